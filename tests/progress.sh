# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# The terminal's last line while tests run: running tests, progress, time left. Read by run.sh.
#
# A run saves its seconds and those of its parts for the next run, which shows as time left the
# share of its parts that have not ended. Without saved seconds, a run takes as long as usual.

began=${began:-$(date +%s)}
export began
[ -t 1 ] && export PROGRESS=yes

# clear_progress: before other lines, within the lock
clear_progress()
{
    [ ! "${PROGRESS:-}" ] || printf '\r\033[K'
}

# progress_line COLUMNS
progress_line()
{
    # shellcheck disable=SC2016 # awk's own $
    awk -v since=$(($(date +%s) - began)) -v usual=$usual -v columns="$1" -v last=$last -v account=$account \
        -v runs="$(cat "$logs"/now.* 2>/dev/null | tr '\n' ' ')" '
        function clock(s) { return sprintf("%d:%02d", s / 60, s % 60) }
        FILENAME == last && FNR == 1 { usual = $1; next }
        FILENAME == last             { seconds[$1] = $5 + 0.5; all += seconds[$1]; parts++; next }
                                     { done++; gone += seconds[$1] }
        END {
            left = all ? usual * (1 - gone / all) : usual - since
            line = clock(since) ", " done + 0 (parts ? " of " parts : "") " parts done, " \
                (left > 0 ? "about " clock(left) " left" : "longer than usual") ": " runs
            printf "%s", substr(line, 1, columns - 1)
        }' $([ ! -s $last ] || echo $last) $([ ! -s $account ] || echo $account) /dev/null
}

show_progress()
{
    while sleep 1; do
        columns=$(stty size <&1 2>/dev/null | cut -d ' ' -f 2)
        line=$(progress_line "${columns:-80}")
        { flock 9; clear_progress; printf '%s' "$line"; } 9>$logs/lock
    done
}

begin_progress()
{
    [ "${PROGRESS:-}" ] || return 0
    show_progress &
    progress=$!
}

end_progress()
{
    [ ! "${progress:-}" ] || { kill "$progress" && wait "$progress"; } 2>/dev/null
    clear_progress
}

keep_seconds()
{
    { echo $(($(date +%s) - began)); cat $account; } >$last
}
