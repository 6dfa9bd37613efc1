# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Compares what check says with what the applets do. Read after lib.sh.
#
#     under="$WORKLOADS/deny --cap bpf --"     as for run_stackbox, or empty
#     agree "no CAP_BPF"                       check and the applets say the same
#     agree_on_events "no CAP_BPF"             and stacksnoop, too
#     begins "no CAP_BPF" JIT TEXT             check's line of that name begins with TEXT
#
# agree runs check once; its lines are in $scratch/checked, for begins and tells.

# Every user must be able to read the traced program: this project may be in a private directory.
chmod 755 "$scratch"
cp "$WORKLOADS/calls" "$scratch/calls"

# line_of NAME: check's line about it, without the name
line_of()
{
    sed -n "s#^$1: ##p" "$scratch/checked"
}

# sentence_of NAME: the reason and the advice in check's line, if it is a no
sentence_of()
{
    line_of "$1" | sed -n 's/^no: //p'
}

# without APPLET WHAT: does check say that APPLET can run, but without WHAT?
without()
{
    case "$(line_of "$1"), " in
    *" without $2 ("* | *", $2 ("* | *" without $2, "* | *", $2, "*) return 0 ;;
    esac
    return 1
}

# parted NAME CHECK: before 5.8 a single capability covers bpf(2), and maps need none; skips CHECK,
# and is false, if the state NAME is impossible there
parted()
{
    [ "$(cat /proc/sys/kernel/cap_last_cap)" -lt 39 ] || return 0
    case "$1/$2" in
    CAP_*/* | "both capabilities"/* | nobody/memory)
        skip "$1: $2" "this kernel has no CAP_BPF (5.8)"
        return 1 ;;
    esac
}

# what_it_is NAME: check's line about it, or why it has none
what_it_is()
{
    if grep -q "^$1: " "$scratch/checked"; then
        echo "it is \"$(line_of "$1")\""
    else
        echo "no such line: status $check_status, $(wc -l <"$scratch/checked") lines, $(tr '\n' '|' <"$scratch/check_err")"
    fi
}

# begins NAME CHECK TEXT: check's line of that name begins with TEXT
begins()
{
    parted "$1" "$2" || return 0
    case "$(line_of "$2")" in
    "$3"*) pass "$1: $2" ;;
    *) fail "$1: $2" "$(what_it_is "$2"), should be \"$3...\"" ;;
    esac
}

# tells NAME CHECK TEXT: check's line of that name is a no, with TEXT and with advice
tells()
{
    parted "$1" "$2" || return 0
    case "$(sentence_of "$2")" in
    *": "*) ;;
    *) fail "$1: $2" "$(what_it_is "$2"), should be no, and say what to do"; return ;;
    esac
    case "$(sentence_of "$2")" in
    *"$3"*) pass "$1: $2 says what to do" ;;
    *) fail "$1: $2" "$(what_it_is "$2"), should be no, with \"$3\"" ;;
    esac
}

# The size of maps differs between the three applets that trace waits.
sizes='s/about [0-9]* KB/about N KB/'

# works_or_says NAME SENTENCE ARG...: stackbox works or, if there is a SENTENCE, refuses in one line
# that ends with it
works_or_says()
{
    local name=$1 sentence=$2
    shift 2
    run_stackbox "$@"
    if [ -z "$sentence" ]; then
        is "$name works" "$status" 0
        [ $status = 0 ] || cat "$scratch/err"
    elif [ $status != 0 ] && [ "$(wc -l <"$scratch/err")" -eq 1 ] &&
        sed "$sizes" "$scratch/err" | grep -qF -e ": $(echo "$sentence" | sed "$sizes")"; then
        pass "$name is refused, and it says why"
    else
        fail "$name" "check said \"$sentence\": status $status, $(tr '\n' '|' <"$scratch/err")"
    fi
}

# by_ptrace APPLET: can it run, but only by ptrace(2), on threads of certain programs?
by_ptrace()
{
    case "$(line_of "$1")" in
    "yes: by ptrace"*) return 0 ;;
    esac
    return 1
}

# by_rings APPLET: can it run, collecting by perf's rings?
by_rings()
{
    case "$(line_of "$1")" in
    "yes: by perf's rings"*) return 0 ;;
    esac
    return 1
}

# needs_rings: are there no programs, or without user stacks?
needs_rings()
{
    [ "$(line_of "bpf(2)")" != yes ]
}

# can_collect: are there maps, or rings?
can_collect()
{
    [ -z "$(sentence_of "stack maps")" ] || [ -z "$(sentence_of "collecting by rings")" ]
}

# one_way NAME APPLET CHECK ARG...: APPLET with ARG works or not, as check says; and check says the same about
# CHECK, if that is not empty
one_way()
{
    local name=$1 applet=$2 check=$3 sentence
    shift 3
    sentence=$(sentence_of "$check")
    # With rings or ptrace(2) a command needs nothing more; both may work only for own programs.
    if { by_rings "$applet" || by_ptrace "$applet"; } && [ "$check" = "-- COMMAND" ]; then
        sentence=
    elif by_ptrace "$applet" && { [ "$applet" = stackcount ] || [ "$applet" = stacksnoop ]; }; then
        # Breakpoints work only in the user's own programs: all else lacks what wakeuptime lacks.
        if ! can_collect || [ "$(sentence_of wakeuptime)" = "$(sentence_of "collecting by rings")" ]; then
            sentence=$(sentence_of wakeuptime)
        fi
        if [ "$check" = "user functions" ]; then
            sentence=
            set -- "$@" -- true
        fi
    elif without "$applet" "others' programs"; then
        sentence=$(sentence_of "collecting by rings")
    # If rings are needed and unavailable, stackbox does not even follow the command.
    elif needs_rings && [ "$(sentence_of "$applet")" ] &&
        [ "$(sentence_of "$applet")" = "$(sentence_of "collecting by rings")" ]; then
        sentence=$(sentence_of "$applet")
    # With BPF programs, stackbox first tries to follow the command, then collecting, then a probe.
    elif [ "$check" != "-- COMMAND" ] || [ -z "$sentence" ] || ! can_collect; then
        case "$(line_of "$applet")" in
        no*) [ "$check" ] && [ "$sentence" ] && can_collect ||
            sentence=$(sentence_of "$applet") ;;
        esac
    fi
    works_or_says "$name: $applet${check:+: $check}" "$sentence" "$applet" -D 0.1 "$@"
}

# is_without NAME APPLET WHAT CHECK: check says that APPLET can run without WHAT if CHECK is a no
is_without()
{
    local expected=no
    case "$(line_of "$2")" in
    no*) return ;;
    esac
    [ "$(sentence_of "$4")" ] && expected=yes
    { by_rings "$2" || by_ptrace "$2"; } && [ "$3" = "-- COMMAND" ] && expected=no
    by_ptrace "$2" && [ "$3" = "user functions" ] && expected=no # they are breakpoints then
    is "$1: $2 runs without $3" "$(without "$2" "$3" && echo yes || echo no)" $expected
}

# look_at_all: runs check for all applets
look_at_all()
{
    run_stackbox check
    cp "$scratch/out" "$scratch/checked"
    cp "$scratch/err" "$scratch/check_err"
    check_status=$status
}

agree()
{
    look_at_all
    is "$1: check prints on stdout only" "$(cat "$scratch/check_err")" ""
    is "$1: exit status" $check_status "$(grep -qE '^(stackcount|profile|off.*|wakeuptime|walltime|stacksnoop): no' \
        "$scratch/checked" && echo 1 || echo 0)"
    is "$1: each no says why and what to do" \
        "$(grep -E '^[^:]*: no' "$scratch/checked" | grep -vE '^[^:]*: no: .+: .+')" ""
    one_way "$1" stackcount "kernel functions" vfs_mknod
    one_way "$1" stackcount "user functions" "$scratch/calls:main"
    one_way "$1" stackcount tracepoints t:sched:sched_process_exec
    is_without "$1" stackcount "kernel functions" "kernel functions"
    is_without "$1" stackcount "user functions" "user functions"
    is_without "$1" stacksnoop t:CATEGORY:EVENT tracepoints
    is_without "$1" profile "-- COMMAND" "-- COMMAND"
    is_without "$1" offwaketime "names of kernel functions" "kallsyms addresses"
    one_way "$1" profile ""
    one_way "$1" offwaketime ""
    one_way "$1" profile "-- COMMAND" -- true
}

# agree_on_events NAME: the same for stacksnoop, after agree
agree_on_events()
{
    # With any event that works in this state.
    if [ -z "$(sentence_of "kernel functions")" ]; then
        one_way "$1" stacksnoop "" vfs_mknod
    elif [ -z "$(sentence_of "user functions")" ]; then
        one_way "$1" stacksnoop "" "$scratch/calls:main"
    elif [ -z "$(sentence_of tracepoints)" ] || ! have_kprobes; then
        one_way "$1" stacksnoop tracepoints t:sched:sched_process_exec
    else
        one_way "$1" stacksnoop "" vfs_mknod
    fi
}
