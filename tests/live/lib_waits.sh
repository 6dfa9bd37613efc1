# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Checks reports of blocked time against what the workloads `sleeps` and `wakes` measured. Read
# after lib.sh. The names of all their threads begin with $PREFIX.

PREFIX=x$$.

# unseen: how many waits may be missing, according to stackbox. On some machines no tracer sees switches
# from certain threads; and an interrupt can come while stackbox itself reads.
unseen()
{
    sed -n -e 's/^[a-z]*: \([0-9]*\) waits are not counted: .*/\1/p' \
        -e 's/^[a-z]*: up to \([0-9]*\) switches and wakeups were missed: .*/\1/p' "$scratch/err" | sum
}

# close_to NAME ACTUAL TRUTH [LONGEST [DOUBT [MORE]]]: in us, within 1 % or 1 ms. ACTUAL may lack
# LONGEST for each wait reported unseen; the truth may be lower by DOUBT, or higher by MORE
close_to()
{
    margin=$(($3 / 100))
    [ $margin -ge 1000 ] || margin=1000
    between "$1 (${2:-?} us, measured $3 - ${5:-0} + ${6:-0}, $(unseen) unseen)" "$2" \
        $(($3 - margin - ${5:-0} - $(unseen) * ${4:-0})) $(($3 + margin + ${6:-0}))
}

# slept NAME ACTUAL WAY: ACTUAL is all of this thread's time, as `sleeps` measured it
slept()
{
    close_to "$1" "$2" "$(row sleeps "$3" 6)" "$(row sleeps "$3" 9)" "$(row sleeps "$3" 10)" \
        "$(row sleeps "$3" 11)"
}

# Hundredths of a second since boot, as in `sleeps`
uptime_now()
{
    sed 's/^\([0-9]*\)\.\([0-9]*\) .*/\1\2/' /proc/uptime
}

# row NAME WAY FIELD: a field of what a `sleeps` started as NAME printed about its thread
row()
{
    awk -v way="$2" -v field="$3" '/^(thread|still) / && $4 == way { print $field }' "$scratch/$1.out"
}

# The kernel function that blocks in this way, on all kernels from 5.10 on
kernel_function()
{
    case $1 in
    nap | rouse | feed | mixed) echo hrtimer_nanosleep ;;
    tmout | woken | last | lain) echo futex_wait ;;
    read) echo pipe_read ;;
    vfork) grep -q ' kernel_clone$' /proc/kallsyms && echo kernel_clone || echo _do_fork ;; # before 5.10
    esac
}

# sleep_lines WAY: the folded lines (-d) in $scratch/out of this way's thread, in its functions, from the
# thread's start to the end of the kernel stack
sleep_lines()
{
    awk -v way="$1" -v name="$PREFIX$1" -v kernel="$(kernel_function "$1")" '{
        line = $0
        sub(/ [0-9]+$/, "", line)
        count = split(line, frame, ";")
        for (middle = 2; middle <= count && frame[middle] != "-"; )
            middle++
        if (frame[1] == name && frame[middle - 1] == way "_inner" &&
            frame[middle - 2] == way "_outer" && frame[middle - 3] == "sleeper" &&
            frame[count] == "__schedule" && index(substr(line, index(line, ";-;")), kernel))
            print
    }' "$scratch/out"
}

# other_lines: lines of our threads that are in none of their own functions, or not blocked there, unless they
# wait for memory
other_lines()
{
    for way in nap tmout woken rouse read feed mixed vfork; do
        sleep_lines $way
    done >"$scratch/known"
    grep -F "$PREFIX" "$scratch/out" | grep -vxFf "$scratch/known" |
        grep -vE ";($PAGE_FAULT);"
}

# sum: adds up the values at the ends of lines
sum()
{
    awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}

# sleeps_right NAME WAY...: these threads' times are right, and there is nothing else. vfork(2) does
# so much before and after the wait that the child's sleep counts as the truth.
sleeps_right()
{
    name=$1
    shift
    for way in "$@"; do
        time=$(sleep_lines "$way" | sum)
        if [ "$way" = vfork ]; then
            between "$name: $way ($(unseen) unseen)" "$time" \
                $((($(row sleeps vfork 5) - $(unseen)) * 25000)) $(($(row sleeps vfork 6) * 101 / 100))
        else
            slept "$name: $way" "$time" "$way"
        fi
    done
    is "$name: these threads have no other waits" "$(other_lines | grep -v ';reap;-;')" ""
    is "$name: there are no other threads" \
        "$(grep -vE ";($PAGE_FAULT);" "$scratch/out" | sed -n "s/^$PREFIX\([^;]*\);.*/\1/p" |
            sort -u | tr '\n' ' ')" \
        "$(printf '%s\n' "$@" | sort -u | tr '\n' ' ')"
}

# blocks_with FRAME: the head of the text in $scratch/out, and its blocks with this frame. A thread
# can also block before it gets there, for memory or a lock.
blocks_with()
{
    awk -v frame="    $1" 'BEGIN { RS = ""; ORS = "\n\n" }
        NR == 1 || index($0 "\n", "\n" frame "\n")' "$scratch/out"
}

# start_sleeps ARG...
start_sleeps()
{
    start_workload sleeps sleeps -w -k -N "$PREFIX" "$@"
    pid=$(pid_of sleeps)
}

# tid_of WORKLOAD WAY (or the number of one of `wakes`): the TID that it printed before it was ready
tid_of()
{
    awk -v name="$PREFIX$2" '$1 == "tid" && $2 == name { print $NF }' "$scratch/$1.out"
}

# trace APPLET ARG...: traces while the workload $traced runs
trace()
{
    # If only a few waits are missing, only --debug says so.
    # shellcheck disable=SC2086 # words
    trace_workload "$traced" "$@" $FRAMES --debug
}

# trace_sleeps APPLET ARG...: in ARGs, @PID is the process's pid, @WAY or @WAY,WAY are threads' TIDs
trace_sleeps()
{
    traced=sleeps
    trace_numbered "$@"
}

trace_numbered()
{
    words=
    for word in "$@"; do
        case $word in
        @PID) word=$pid ;;
        @*) word=$(for way in $(echo "${word#@}" | tr ',' ' '); do
                tid_of "$traced" "$way"
            done | paste -s -d ,) ;;
        esac
        words="$words $word"
    done
    # shellcheck disable=SC2086 # words
    trace $words
}

# text_blocks: the blocks of $scratch/out as offcputime --by thread prints them, one a line:
# NAME|NUMBER|VALUE|FRAME;FRAME
text_blocks()
{
    awk '/^        [0-9]+$/ { print name "|" number "|" $1 "|" substr(frames, 2); frames = ""; next }
         /^    -                / {
             name = substr($0, 22)
             number = name
             sub(/ \([^(]*\)$/, "", name)
             sub(/^.*[(\/]/, "", number)
             sub(/\)$/, "", number)
             next
         }
         /^    [^ ]/ { frames = frames ";" substr($0, 5) }' "$scratch/out"
}

# kernel_threads: their ids, one a line
kernel_threads()
{
    for stat in /proc/[0-9]*/stat; do
        sed 's/^\([0-9]*\) .*) /\1 /' "$stat"
    done 2>/dev/null | awk '{ flags = $8; if (int(flags / 2097152) % 2) print $1 }'
}

# ---- Who wakes whom
#
# Reports with -d, in a common form: one block a line,
#     TARGET|TID|KERNEL|USER|WAKER|TID|KERNEL|USER|VALUE
# with stacks from root to leaf, joined by `;`. What a kind of report does not show is empty.

# apart: splits each STACK of TARGET|TID|STACK|WAKER|TID|STACK|VALUE into KERNEL|USER. If only one
# of them is there, the usual end of kernel stacks tells which.
apart()
{
    awk -F '|' '
        function halves_of(stack,   middle) {
            middle = index(stack, ";-;")
            if (middle)
                return substr(stack, middle + 3) "|" substr(stack, 1, middle - 1)
            if (stack ~ /(^|;)(__schedule|try_to_wake_up)$/)
                return stack "|"
            return "|" stack
        }
        { print $1 "|" $2 "|" halves_of($3) "|" $4 "|" $5 "|" halves_of($6) "|" $7 }'
}

# offwake_text: the text of offwaketime --by thread in $scratch/out
offwake_text()
{
    awk '
        # NAME (PID/TID), NAME (PID), NAME (host PID), or just NAME without a process
        function parts(text,   name, id) {
            name = id = text
            sub(/ \((host )?[0-9\/]+\)$/, "", name)
            if (name == text)
                return text "|"
            sub(/.*[ (\/]/, "", id)
            sub(/\)$/, "", id)
            return name "|" id
        }
        /^    waker:           / { who = substr($0, 22); part = 1; waker = target = ""; next }
        /^    --               --$/ { part = 2; next }
        /^    target:          / { whom = substr($0, 22); next }
        /^        [0-9]+$/ { print parts(whom) "|" target "|" parts(who) "|" waker "|" $1; next }
        /^    [^ ]/ && part == 1 { waker = (waker == "" ? "" : waker ";") substr($0, 5) }
        /^    [^ ]/ && part == 2 { target = substr($0, 5) "" (target == "" ? "" : ";" target) }
    ' "$scratch/out" | apart
}

# offwake_folded: the folded stacks of offwaketime in $scratch/out
offwake_folded()
{
    awk '{
        value = $NF
        sub(/ [0-9]+$/, "")
        count = split($0, frame, ";")
        target = waker = ""
        for (i = 2; i <= count && frame[i] != "--"; i++)
            target = (i == 2 ? "" : target ";") frame[i]
        for (j = count - 1; j > i; j--)
            waker = (j == count - 1 ? "" : waker ";") frame[j]
        print frame[1] "||" target "|" frame[count] "||" waker "|" value
    }' "$scratch/out" | apart
}

# wakeup_folded: the folded stacks of wakeuptime in $scratch/out
wakeup_folded()
{
    awk '{
        value = $NF
        sub(/ [0-9]+$/, "")
        count = split($0, frame, ";")
        waker = ""
        for (i = 2; i < count; i++)
            waker = (i == 2 ? "" : waker ";") frame[i]
        print frame[count] "|||" frame[1] "||" waker "|" value
    }' "$scratch/out" | apart
}

# wakeup_text: the text of wakeuptime in $scratch/out
wakeup_text()
{
    awk '
        function name_of(text) { sub(/ \((host )?[0-9\/]+\)$/, "", text); return text }
        /^    target:          / { target = name_of(substr($0, 22)); stack = ""; next }
        /^    waker:           / { waker = name_of(substr($0, 22)); next }
        /^        [0-9]+$/ {
            sub(/;--;/, ";-;", stack)
            print target "|||" waker "||" stack "|" $1
            next
        }
        /^    [^ ]/ { stack = substr($0, 5) "" (stack == "" ? "" : ";" stack) }
    ' "$scratch/out" | apart
}

# judge_wakes PARSER: writes into $scratch/verdict, for each wait that `wakes` printed,
#     right NAME SUM TIME TO_WAKE WAITS LONGEST DOUBT MORE WAY UNKNOWN RAN
# with the sum of the blocks that have the right target, waker and stacks; and for each other block of
# one of our threads
#     wrong BLOCK
# or, if it is right except for an unseen waker,
#     nobody BLOCK
# UNKNOWN is the time of waits whose timer was not seen: see unseen. RAN is how long the thread ran
# in its calls. wakeuptime shows no stack of the target: $no_target_stack is 1 there.
no_target_stack=0
judge_wakes()
{
    "$1" >"$scratch/blocks"
    awk -F '|' -v no_target_stack=$no_target_stack -v fault=";($PAGE_FAULT);" '
        function ends_in(stack, end) {
            return stack == end || substr(stack, length(stack) - length(end)) == ";" end
        }
        function same(told, truth) { return told == "" || told == truth }
        function target_right(name) {
            if (!same($2, tid[name]))
                return 0
            if (no_target_stack)
                return $3 $4 == ""
            return ends_in($4, stack[name]) && ends_in($3, "__schedule") &&
                index($3, waits[way[name]])
        }
        function waker_right(name) {
            if (!ends_in($7, "try_to_wake_up") || !index($7, wakes[way[name]]))
                return 0
            # The waker is the task that the timer interrupted, without its user stack.
            if (way[name] == "naps")
                return $8 == ""
            return $5 == waker[name] && same($6, waker_tid[name]) && ends_in($8, waker_stack[name])
        }
        BEGIN {
            waits["pipe"] = "pipe_read"; waits["futex"] = "futex_wait"
            waits["signal"] = "do_sigtimedwait"; waits["naps"] = "hrtimer_nanosleep"
            wakes["pipe"] = "pipe_write"; wakes["futex"] = "futex_wake"
            wakes["signal"] = "tgkill"; wakes["naps"] = "hrtimer_wakeup"
        }
        FILENAME == ARGV[1] {
            if (split($0, field, " ") != 17 || field[1] != "wait")
                next
            name = field[2]; names[++count] = name
            tid[name] = field[4]; stack[name] = field[5]; time[name] = field[7]
            to_wake[name] = field[8]; waits_of[name] = field[6]
            longest[name] = field[10]; doubt[name] = field[11]; more[name] = field[12]
            waker[name] = field[13]; waker_tid[name] = field[15]; waker_stack[name] = field[16]
            ran[name] = field[17]
            digits[name] = stack[name]; sub(/;[a-z_]*$/, ";", digits[name])
            way[name] = stack[name]; sub(/.*;/, "", way[name]); sub(/_waits/, "", way[name])
            next
        }
        !($1 in tid) { next }
        # Skips waits before the first and after the last of its own, and waits for memory.
        $4 != "" && ($4 !~ /member;(zero|one);/ || $3 ~ fault) { next }
        # Two threads at the ends of a pipe can also wait for its lock: these waits are not
        # measured.
        $3 ~ /mutex_lock/ && $7 ~ /mutex_unlock/ && ($5 in tid) && index($4, digits[$1]) &&
            index($8, digits[$5]) { next }
        target_right($1) && way[$1] == "naps" && $5 == "[no waker]" && $7 $8 == "" {
            unknown[$1] += $9
            next
        }
        target_right($1) && waker_right($1) { right[$1] += $9; next }
        target_right($1) && $5 == "[no waker]" && $7 $8 == "" { print "nobody " $0; next }
        { print "wrong " $0 }
        END {
            for (i = 1; i <= count; i++) {
                name = names[i]
                printf "right %s %.0f %s %s %s %s %s %s %s %.0f %s\n", name, right[name], time[name],
                    to_wake[name], waits_of[name], longest[name], doubt[name], more[name], way[name],
                    unknown[name], ran[name]
            }
        }' "$scratch/wakes.out" "$scratch/blocks" >"$scratch/verdict"
}

# start_wakes ARG...
start_wakes()
{
    start_workload wakes wakes -w -k -N "$PREFIX" "$@"
    pid=$(pid_of wakes)
}

# trace_wakes APPLET ARG...: like trace_sleeps, with threads by their numbers
trace_wakes()
{
    traced=wakes
    trace_numbered "$@"
}

# no_wrong NAME: after judge_wakes
no_wrong()
{
    is "$1: no wrong target, waker or stack" "$(grep '^wrong' "$scratch/verdict" | head -n 3)" ""
    between "$1: no more waits lack a waker than were missed" \
        "$(grep -c '^nobody' "$scratch/verdict")" 0 "$(unseen)"
}

# untold: how many wakeups of a thread may be missing without a report: the kernel skips a timer
# that fires while a BPF program or bpf(2) runs on that CPU, and reports this only from 6.7 on.
untold()
{
    case $GUEST in
    *5.10* | 6.1 | 6.1-*) echo 1 ;;
    *) echo 0 ;;
    esac
}

# known NAME TIME UNKNOWN LONGEST: waits that a timer ended have the timer as their waker. Some
# hosts have hidden threads: neither ftrace nor BPF programs see their switches, nor interrupts
# while they run. The number of timers that fire meanwhile depends on these threads.
known()
{
    most=$((($(unseen) + $(untold)) * $4))
    [ "$GUEST" ] || most=$(($2 / 3))
    between "$1: time without a waker" "$3" 0 $most
}

# wakes_right NAME: after judge_wakes, for offwaketime: each time is right, and nothing is wrong
wakes_right()
{
    while read -r verdict who got time to_wake waits longest doubt more way unknown _; do
        [ "$verdict" = right ] || continue
        close_to "$1: $way ${who#"$PREFIX"}" $((got + unknown)) "$time" "$longest" "$doubt" "$more"
        [ "$way" != naps ] || known "$1: $way ${who#"$PREFIX"}" "$time" "$unknown" "$longest"
    done <"$scratch/verdict"
    no_wrong "$1"
}
