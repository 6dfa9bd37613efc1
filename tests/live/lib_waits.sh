# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What is said of blocked time, judged by what the workloads `sleeps` and `wakes` measured themselves.
# It is read after lib.sh. The names of all their threads begin with $PREFIX.

PREFIX=x$$.

# close_to NAME ACTUAL TRUTH: microseconds, within 1 % or 1 ms
close_to()
{
    margin=$(($3 / 100))
    [ $margin -ge 1000 ] || margin=1000
    between "$1 (${2:-?} us, measured $3)" "$2" $(($3 - margin)) $(($3 + margin))
}

# Hundredths of a second since the boot, as `sleeps` has them.
uptime_now()
{
    sed 's/^\([0-9]*\)\.\([0-9]*\) .*/\1\2/' /proc/uptime
}

# row NAME WAY FIELD: what a `sleeps` that was started as NAME said of its thread, by field
row()
{
    awk -v way="$2" -v field="$3" '/^(thread|still) / && $4 == way { print $field }' "$scratch/$1.out"
}

# What a way of being blocked is called in the kernel, on all kernels from 5.10 on.
kernel_function()
{
    case $1 in
    nap | rouse | feed | mixed) echo hrtimer_nanosleep ;;
    tmout | woken | last | lain) echo futex_wait ;;
    read) echo pipe_read ;;
    vfork) echo kernel_clone ;;
    esac
}

# sleep_lines WAY: the folded lines (-d) of $scratch/out of the thread of this way, in its functions,
# from the start of the thread to the end of the kernel's stack
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

# other_lines: those of our threads that are in none of their own functions, or not blocked there
other_lines()
{
    for way in nap tmout woken rouse read feed mixed vfork; do
        sleep_lines $way
    done >"$scratch/known"
    grep -F "$PREFIX" "$scratch/out" | grep -vxFf "$scratch/known"
}

# sum: of the values at the end of the lines
sum()
{
    awk '{ sum += $NF } END { printf "%.0f\n", sum }'
}

# sleeps_right NAME WAY...: the time of these threads, and that there is nothing else of any
sleeps_right()
{
    name=$1
    shift
    for way in "$@"; do
        close_to "$name: $way" "$(sleep_lines "$way" | sum)" "$(row sleeps "$way" 6)"
    done
    is "$name: nothing else of theirs" "$(other_lines | grep -v ';reap;-;')" ""
    is "$name: of no other way" \
        "$(sed -n "s/^$PREFIX\([^;]*\);.*/\1/p" "$scratch/out" | sort -u | tr '\n' ' ')" \
        "$(printf '%s\n' "$@" | sort -u | tr '\n' ' ')"
}

# start_sleeps ARG...
start_sleeps()
{
    start_workload sleeps sleeps -w -k -N "$PREFIX" "$@"
    pid=$(pid_of sleeps)
}

# tid_of WORKLOAD WAY, or the number of one of `wakes`: as it said before it was ready
tid_of()
{
    awk -v name="$PREFIX$2" '$1 == "tid" && $2 == name { print $NF }' "$scratch/$1.out"
}

# trace APPLET ARG...: while the workload $traced runs
trace()
{
    if start_stackbox "$@"; then
        go "$traced" || fail "$*" "the workload did not come to its end"
        finish_stackbox
    else
        fail "$*" "did not start: $(cat "$scratch/err")"
        status=none
    fi
    finish_workload "$traced"
}

# trace_sleeps APPLET ARG...: with @PID and @WAY in the place of their numbers
trace_sleeps()
{
    traced=sleeps
    words=
    for word in "$@"; do
        case $word in
        @PID) word=$pid ;;
        @*) word=$(tid_of sleeps "${word#@}") ;;
        esac
        words="$words $word"
    done
    # shellcheck disable=SC2086 # words
    trace $words
}

# text_blocks: the blocks of $scratch/out as offcputime and profile print them, one a line:
# NAME|NUMBER|VALUE|FRAME;FRAME
text_blocks()
{
    awk '/^        [0-9]+$/ { print name "|" number "|" $1 "|" substr(frames, 2); frames = ""; next }
         /^    -                / {
             name = substr($0, 22)
             number = name
             sub(/ \([^(]*\)$/, "", name)
             sub(/^.* \(/, "", number)
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
# Reports with -d, made equal: one block a line,
#     TARGET|TID|KERNEL|USER|WAKER|TID|KERNEL|USER|VALUE
# with stacks from root to leaf, joined by `;`. What a form of report does not tell is empty.

# offwake_text: the text of offwaketime in $scratch/out
offwake_text()
{
    awk 'function reset() { part = 0; wu = wk = tu = tk = "" }
         # Which of two stacks is there, when only one is? The kernel s ends are known.
         function is_kernel(stack) { return stack ~ /(^|;)(__schedule|try_to_wake_up)$/ }
         function name_of(text) { sub(/ (host )?[0-9]+$/, "", text); return text }
         function id_of(text) { return text ~ / [0-9]+$/ ? text : "" }
         function split_waker(   middle) {
             middle = index(waker, ";-;")
             if (middle) { wu = substr(waker, 1, middle - 1); wk = substr(waker, middle + 3) }
             else if (is_kernel(waker)) wk = waker
             else wu = waker
         }
         function split_target(   middle) {
             middle = index(target, ";-;")
             if (middle) { tu = substr(target, 1, middle - 1); tk = substr(target, middle + 3) }
             else if (is_kernel(target)) tk = target
             else tu = target
         }
         /^    waker:           / { who = substr($0, 22); part = 1; waker = target = ""; next }
         /^    --               --$/ { part = 2; next }
         /^    target:          / { whom = substr($0, 22); part = 3; next }
         /^        [0-9]+$/ && part == 3 {
             wu = wk = tu = tk = ""
             split_waker()
             split_target()
             whose = id_of(whom); sub(/.* /, "", whose)
             by = id_of(who); sub(/.* /, "", by)
             print name_of(whom) "|" whose "|" tk "|" tu "|" name_of(who) "|" by "|" wk "|" wu "|" $1
             part = 0
             next
         }
         /^    [^ ]/ && part == 1 { waker = waker (waker == "" ? "" : ";") substr($0, 5) }
         /^    [^ ]/ && part == 2 { target = substr($0, 5) (target == "" ? "" : ";") target }' "$scratch/out"
}

# offwake_folded: the folded stacks of offwaketime in $scratch/out
offwake_folded()
{
    awk 'function is_kernel(stack) { return stack ~ /(^|;)(__schedule|try_to_wake_up)$/ }
         function turned(first, last,   i, stack) {
             for (i = last; i >= first; i--)
                 stack = stack (i == last ? "" : ";") frame[i]
             return stack
         }
         function straight(first, last,   i, stack) {
             for (i = first; i <= last; i++)
                 stack = stack (i == first ? "" : ";") frame[i]
             return stack
         }
         {
             value = $NF
             sub(/ [0-9]+$/, "")
             count = split($0, frame, ";")
             for (both = 2; both <= count && frame[both] != "--"; )
                 both++
             target = straight(2, both - 1)
             waker = turned(both + 1, count - 1)
             tu = tk = wu = wk = ""
             middle = index(target, ";-;")
             if (middle) { tu = substr(target, 1, middle - 1); tk = substr(target, middle + 3) }
             else if (is_kernel(target)) tk = target
             else tu = target
             middle = index(waker, ";-;")
             if (middle) { wu = substr(waker, 1, middle - 1); wk = substr(waker, middle + 3) }
             else if (is_kernel(waker)) wk = waker
             else wu = waker
             print frame[1] "||" tk "|" tu "|" frame[count] "||" wk "|" wu "|" value
         }' "$scratch/out"
}

# wakeup_folded: the folded stacks of wakeuptime in $scratch/out
wakeup_folded()
{
    awk '{
        value = $NF
        sub(/ [0-9]+$/, "")
        waker = target = $0
        sub(/;.*/, "", waker)
        sub(/.*;/, "", target)
        stack = substr($0, length(waker) + 2)
        stack = substr(stack, 1, length(stack) - length(target) - 1)
        user = kernel = ""
        middle = index(stack, ";-;")
        if (middle) { user = substr(stack, 1, middle - 1); kernel = substr(stack, middle + 3) }
        else if (stack ~ /(^|;)try_to_wake_up$/) kernel = stack
        else user = stack
        print target "||||" waker "||" kernel "|" user "|" value
    }' "$scratch/out"
}

# wakeup_text: the text of wakeuptime in $scratch/out
wakeup_text()
{
    awk '/^    target:          / { target = substr($0, 22); stack = ""; next }
         /^    waker:           / { waker = substr($0, 22); next }
         /^        [0-9]+$/ {
             user = kernel = ""
             middle = index(stack, ";--;")
             if (middle) { user = substr(stack, 1, middle - 1); kernel = substr(stack, middle + 4) }
             else if (stack ~ /(^|;)try_to_wake_up$/) kernel = stack
             else user = stack
             print target "||||" waker "||" kernel "|" user "|" $1
             next
         }
         /^    [^ ]/ { stack = substr($0, 5) (stack == "" ? "" : ";") stack }' "$scratch/out"
}

# judge_wakes PARSER: of each wait that `wakes` said, `right NAME SUM TIME TO_WAKE DELAY LEAF` with the sum
# of the blocks that have the right target, waker and stacks; `wrong BLOCK` for each other one of our
# threads; all in $scratch/verdict
judge_wakes()
{
    "$1" >"$scratch/blocks"
    awk -F '|' '
        function ends_in(stack, end) {
            return stack == end || substr(stack, length(stack) - length(end)) == ";" end
        }
        function same(told, truth) { return told == "" || told == truth }
        BEGIN {
            waits["pipe"] = "pipe_read"; waits["futex"] = "futex_wait"
            waits["signal"] = "do_sigtimedwait"; waits["naps"] = "hrtimer_nanosleep"
            wakes["pipe"] = "pipe_write"; wakes["futex"] = "futex_wake"
            wakes["signal"] = "tgkill"; wakes["naps"] = "hrtimer_wakeup"
        }
        FILENAME == ARGV[1] {
            if (split($0, field, " ") != 13 || field[1] != "wait")
                next
            name = field[2]; names[++count] = name
            tid[name] = field[4]; stack[name] = field[5]; time[name] = field[7]
            to_wake[name] = field[8]; delay[name] = field[9]
            waker[name] = field[10]; waker_tid[name] = field[12]; waker_stack[name] = field[13]
            leaf[name] = field[5]; sub(/.*;/, "", leaf[name]); sub(/_waits/, "", leaf[name])
            next
        }
        !($1 in tid) { next }
        {
            ok = same($2, tid[$1]) && ($4 == "" && '"${WITHOUT_TARGET_STACK:-0}"' || (ends_in($4, stack[$1]) &&
                 ends_in($3, "__schedule") && index($3, waits[leaf[$1]])))
            if (leaf[$1] == "naps")
                ok = ok && $8 == "" && $5 != "[no waker]"
            else
                ok = ok && $5 == waker[$1] && same($6, waker_tid[$1]) && ends_in($8, waker_stack[$1])
            ok = ok && ends_in($7, "try_to_wake_up") && index($7, wakes[leaf[$1]])
            if (ok)
                right[$1] += $9
            else
                print "wrong " $0
        }
        END {
            for (i = 1; i <= count; i++)
                printf "right %s %.0f %s %s %s %s\n", names[i], right[names[i]], time[names[i]],
                    to_wake[names[i]], delay[names[i]], leaf[names[i]]
        }' "$scratch/wakes.out" "$scratch/blocks" >"$scratch/verdict"
}

# start_wakes ARG...
start_wakes()
{
    start_workload wakes wakes -w -k -N "$PREFIX" "$@"
    pid=$(pid_of wakes)
}

# trace_wakes APPLET ARG...: with @PID and @NUMBER as in trace_sleeps
trace_wakes()
{
    traced=wakes
    words=
    for word in "$@"; do
        case $word in
        @PID) word=$pid ;;
        @*) word=$(tid_of wakes "${word#@}") ;;
        esac
        words="$words $word"
    done
    # shellcheck disable=SC2086 # words
    trace $words
}

# no_wrong NAME: after judge_wakes
no_wrong()
{
    is "$1: no wrong target, waker or stack" "$(grep '^wrong' "$scratch/verdict" | head -n 3)" ""
}

# wakes_right NAME: after judge_wakes, of offwaketime: the time of each, and nothing wrong
wakes_right()
{
    while read -r verdict who got time to_wake delay leaf; do
        [ "$verdict" = right ] && close_to "$1: $leaf ${who#"$PREFIX"}" "$got" "$time"
    done <"$scratch/verdict"
    no_wrong "$1"
}
