#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# beside.sh [--peers KERNEL] [--only REGEX] [--results FILE]
# beside.sh --guest KERNEL [--only REGEX] [--results FILE]
# beside.sh --page RESULTS [GUEST-RESULTS]
# beside.sh --check
#
# Runs the examples on stacks from the documentation of bcc, bpftrace and libbpf-tools, and stackbox's
# equivalents, each while the same workload runs. The workload knows how often it called, how long it slept,
# and how much CPU time it used, and both are judged by that. The examples are in scripts/beside/examples.
#
#   --only REGEX     only examples whose line matches
#   --results FILE   where results go, a line each (build/beside/results.tsv)
#   --peers KERNEL   not the installed peers, but those of the Debian release with this KERNEL (see
#                    scripts/kernels.sh), in a root directory of their own: newest has the newest of each
#   --guest KERNEL   in an emulated guest (scripts/guest.sh), whose kernel has kprobes, with the peers of
#                    the same Debian release. A tool of bcc takes half a minute to start there.
#   --page           makes the tables of src/docs/beside.md from the results of this machine and of one
#                    whose kernel has kprobes, and keeps both as tests/bench/beside*.tsv. If an example was
#                    run on both, the guest's result is used, provided the peer produced a figure there.
#   --check          whether the page's tables match these results
#
# With KEEP=PATH in the environment, what each tool printed is kept in PATH.ROW.TOOL.
#
# Examples are run as they stand, except: a pid or a thread is the workload's; Ctrl-C comes a second after the
# workload is done; and what is missing here (a program, CPU 7) is replaced as the table says. A peer that is
# not installed has no rows. Run no tests meanwhile: if others ran the same workload, it would be taken for
# ours.

set -u
umask 022
exec </dev/null
cd "$(dirname "$0")/.." || exit 1
PATH=$PATH:/usr/sbin:/sbin
workloads=$PWD/build/release/workloads
out=build/beside/work
results=build/beside/results.tsv
only=.
# shellcheck disable=SC2034 # lib.sh's
patience=${PATIENCE:-3000} pause=${PAUSE:-0.02}
limit=${LIMIT:-120}
guest= peers_of=

usage()
{
    sed -n 's/^# \(beside\.sh\)/usage: \1/p' scripts/beside.sh >&2
    exit 2
}

. scripts/bench/lib.sh
. scripts/bench/peers.sh
. scripts/beside/page.sh

case ${1:-} in
--page)  shift; make_page "$@"; exit ;;
--check) check_page; exit ;;
esac
while [ $# -gt 0 ]; do
    case $1 in
    --only)    only=${2:-} ;;
    --results) results=${2:-} ;;
    --guest)   guest=${2:-} ;;
    --peers)   peers_of=${2:-} ;;
    *)         usage ;;
    esac
    shift 2 || usage
done

# ---- what the fields of a row mean

# cell LINE NUMBER: one of the fields between ` => `
cell()
{
    printf '%s\n' "$1" | awk -v number="$2" -F ' => ' '{ print $number }'
}

# typed COMMAND BUT: applies BUT and the workload's ids. ENVIRON, as awk -v interprets backslashes.
typed()
{
    CHAINS=$workloads/chains USDT=$workloads/usdt COMMAND=$1 BUT=$2 PID=$pid TID=$tid awk 'BEGIN {
        command = ENVIRON["COMMAND"]
        rules = ENVIRON["BUT"] == "-" ? 0 : split(ENVIRON["BUT"], rule, " ")
        if (ENVIRON["BUT"] ~ /^C 7/) {
            rules = 0
            sub(/-C 7/, "-C 1", command)
        }
        for (i = 1; i <= rules; i++) {
            middle = index(rule[i], "=")
            from = substr(rule[i], 1, middle - 1)
            at = index(command, from)
            if (at)
                command = substr(command, 1, at - 1) substr(rule[i], middle + 1) substr(command, at + length(from))
        }
        gsub(/@CHAINS/, ENVIRON["CHAINS"], command)
        gsub(/@USDT/, ENVIRON["USDT"], command)
        if (command ~ /-p 185,1$|-p 185,1 /)
            sub(/-p 185,1/, "-p " ENVIRON["PID"] ",1", command)
        else
            sub(/-p (`[^`]*`|\$\([^)]*\)|[0-9]+)/, "-p " ENVIRON["PID"], command)
        sub(/pid == 189/, "pid == " ENVIRON["PID"], command)
        sub(/-L 185/, "-L " ENVIRON["TID"], command)
        sub(/-t 188/, "-t " ENVIRON["TID"], command)
        print command
    }'
}

# The workload of a row, as a command. It is named bz, and gets a high priority against other load.
workload_command()
{
    case $1 in
    'taskset -c 1 @BURN') echo "taskset -c 1 $workloads/burn -s 400 -F 49 -N bz -w -k" ;;
    'taskset -c 1 @'*)    echo "taskset -c 1 $workloads/dynamic/chores -N bz -w -k ${1##*@}" ;;
    @USDT*)               echo "$workloads/usdt ${1#@USDT} -N bz -w -k" ;;
    @reads | @syncs)      echo "$workloads/dynamic/chores -n 50 -N bz -w -k ${1#@}" ;;
    @*)                   echo "$workloads/dynamic/chores -N bz -w -k ${1#@}" ;;
    'chores '*)           echo "$workloads/dynamic/chores -N bz -w -k ${1#chores }" ;;
    burn*)                echo "$workloads/burn -s 1000 -F 49 -N bz -w -k ${1#burn}" ;;
    sleeps*)              echo "$workloads/sleeps -n 20 -u 20000 -N bz. -w -k ${1#sleeps}" ;;
    wakes*)               echo "$workloads/wakes -n 20 -u 20000 -N bz. -w -k ${1#wakes} pipe" ;;
    chains*)              echo "$workloads/chains -N bz -w -k ${1#chains}" ;;
    esac
}

# said WORDS FIELD: that field of the workload's line that begins with WORDS
said()
{
    sed -n "s/^$1 //p" "$out/workload.out" | awk -v field="$2" '{ print $field; exit }'
}

# truth EXPECTED: the true figure, and the least and the most that count as right
truth()
{
    calls=$(sed -n 's/^done CALLS=//p' "$out/workload.out")
    set -f
    # shellcheck disable=SC2086 # words
    set -- $1
    set +f
    case $1 in
    calls)     echo "$calls $calls $calls" ;;
    sites)     echo "$((calls * 7)) $((calls * 7)) $((calls * 7))" ;;
    twice)     echo "$((calls * 2)) $((calls * 2)) $((calls * 2))" ;;
    0)         echo "0 0 0" ;;
    switches)  set -- "$(said 'count switches' 1)"; echo "$1 $1 $1" ;;
    burnt)     samples ;;
    kernel)    said 'count kernel_us' 1 | awk -v hz="$2" '{ n = $1 * hz / 1000000
        printf "%d %d %d\n", n + 0.5, n * 0.85 - 3, n * 1.1 + 3 }' ;;
    seconds)   echo "$elapsed $((elapsed - 1)) $((elapsed + 1))" ;;
    slept)     waits "$2" 6 ;;
    long)      waits "$2" 8 ;;
    short)     awk -v way="$2" '$1 == "thread" && $4 == way { t = $6 - $8
        printf "%d %d %d\n", t, t * 0.98 - $10 - 1000, t * 1.02 + $11 + 1000 }' "$out/workload.out" ;;
    woken)     awk '$1 == "wait" && $2 == "bz.1" {
        printf "%d %d %d\n", $7, $7 * 0.98 - $11 - 1000, $7 * 1.02 + $12 + 1000 }' "$out/workload.out" ;;
    esac
}

# The ticks in the CPU time that burn used, within 2 samples and 3 %, as a CPU's clock and a
# thread's differ; plus three standard deviations, as some ticks hit other tasks by chance.
samples()
{
    awk '/^count wall_most / { wall = $3 } $2 ~ /^(greater|lesser)_least/ { least += $3 }
        $2 ~ /^(greater|lesser)_most/ { most += $3 }
        END {
            margin = 2 + 0.03 * most + 3 * sqrt(wall > most ? most * (1 - most / wall) : 0)
            printf "%d %d %d\n", most, least - margin, most + margin + 0.99
        }' "$out/workload.out"
}

# waits WAY FIELD: a field of sleeps' thread, within 2 % plus 1 ms plus the thread's own uncertainty
waits()
{
    awk -v way="$1" -v field="$2" '$1 == "thread" && $4 == way { t = $field
        printf "%d %d %d\n", t, t * 0.98 - $10 - 1000, t * 1.02 + $11 + 1000 }' "$out/workload.out"
}

# ---- running one of the two tools

has_started()
{
    cat "/proc/$tracer/fdinfo"/* 2>/dev/null | grep -qE '^(prog_id|link_id):'
}

# Waits until the tool opens no more descriptors: then it traces all its functions.
settle()
{
    before=-1 same=0
    while [ $same -lt 5 ] && kill -0 "$tracer" 2>/dev/null; do
        # shellcheck disable=SC2012 # numbers
        now=$(ls "/proc/$tracer/fd" 2>/dev/null | wc -l)
        if [ "$now" = "$before" ]; then same=$((same + 1)); else same=0; fi
        before=$now
        sleep 0.2
    done
}

start_work()
{
    : >"$out/workload.out"
    # shellcheck disable=SC2046 # words
    nice -n -20 "$workloads/session" --limit $((limit + 60)) $(workload_command "$1") >"$out/workload.out" 2>&1 &
    pid=$!
    tries=300
    until grep -q '^ready' "$out/workload.out"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] && kill -0 $pid 2>/dev/null || return 1
        sleep 0.1
    done
    tid=$(awk '$1 == "tid" && ($2 == "bz.nap" || $2 == "bz.1") { print $NF }
        /^count tid / { print $3 }' "$out/workload.out" | head -n 1)
    tid=${tid:-$pid}
}

end_work()
{
    kill -s USR2 "$pid" 2>/dev/null
    sleep 0.1
    kill -s KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
}

work()
{
    kill -s USR2 "$pid"
    tries=600
    until grep -q '^done' "$out/workload.out"; do
        tries=$((tries - 1))
        [ $tries -gt 0 ] && kill -0 "$pid" 2>/dev/null || return 1
        sleep 0.1
    done
}

# begin_typed WHO COMMAND
begin_typed()
{
    printf '%s\n' "$2" >"$out/typed"
    case $1 in
    stackbox)     eval "begin_for $limit ./stackbox $2"; as_soon_as said_ready ;;
    bpftrace)     eval "begin_for $limit $2"; as_soon_as has_started && settle ;;
    bcc)          eval "begin_for $limit env PYTHONUNBUFFERED=1 $(bcc_tool "${2%% *}") $(echo "$2 " | cut -d ' ' -f 2-)"
                  as_soon_as has_started && settle ;;
    libbpf-tools) eval "begin_for $limit $(libbpf_tool "${2%% *}") $(echo "$2 " | cut -d ' ' -f 2-)"
                  as_soon_as has_started && settle ;;
    esac
}

# Why it did not start, in its own words
reason()
{
    grep -ahE 'rror|ail|nable|not |No |nvalid|nknown|unrecogni|missing|matched' "$out/tracer.err" "$out/tracer.out" |
        grep -vE 'warning: |^ *\^|Traceback|modprobe|run: ' | tail -n 1 | tr '\t|' '  ' | cut -c 1-100
}

# side WHO COMMAND: sets $figure, $whole, $range, $why. Tried up to three times if the tool ended before the
# workload.
side()
{
    figure='' whole='' range='' why=''
    # bcc's off-CPU tools need kernel headers to read a task's pid, comm and state.
    case "$1 $2" in
    'bcc off'*) ! bcc_foreign_headers >/dev/null || { why='kernel headers are missing'; return; } ;;
    esac
    for _ in 1 2 3; do
        if ! start_work "$workload"; then
            why="the workload cannot run here: $(head -n 1 "$out/workload.out")"
            end_work
            return
        fi
        if ! begin_typed "$1" "$(typed "$2" "$but")"; then
            why=$(reason)
            why=${why:-$(tail -n 1 "$out/tracer.out" | cut -c 1-100)}
            why=${why:-it did not start}
            keep "$1"
            end_work
            return
        fi
        since=$(date +%s)
        work || why="the workload did not end"
        early=no
        kill -0 "$tracer" 2>/dev/null || early=yes
        elapsed=$(($(date +%s) - since))
        case $(echo "$2" | sed "s/ 'tcp.*//") in
        profile*[a-z0-9\`]' '[0-9] | profile*' 10' | off*' 5') ;;
        *) sleep 1; kill -s INT "$tracer" 2>/dev/null ;; # by then all events are printed
        esac
        wait "$tracer" 2>/dev/null
        tracer=
        end_work
        [ $early = yes ] || break
    done
    range=$(truth "$expected")
    case $2 in
    stacksnoop* | *printf*) snoop=1 ;;
    *) snoop=0 ;;
    esac
    awk -v snoop=$snoop -f scripts/beside/fold.awk "$out/tracer.out" >"$out/folded"
    figure=$(EVENTS=$events figures all)
    whole=$(EVENTS=$events WHOLE=$whole_regex figures whole)
    if [ "$figure" = 0 ] && [ "$range" != "0 0 0" ]; then why=$(reason); fi
    [ "$why" ] || why=$(sed -n \
        -e 's/^[a-z]*: \([0-9,]* of [0-9,]* waits\),.* are not counted:.*/\1 are not counted, it says/p' \
        -e 's/^[a-z]*: \(up to .* for [0-9,]* waits\),.* were missed:.*/\1 were missed, it says/p' \
        "$out/tracer.err" | head -n 1)
    keep "$1"
}

# keep WHO: copies what it printed to $KEEP.ROW.WHO, if KEEP is set
keep()
{
    [ -z "${KEEP:-}" ] || cp -r "$out" "$KEEP.$row.$1"
}

figures()
{
    awk -v what="$1" 'BEGIN { n = split(ENVIRON["EVENTS"], regex, " ") } {
        count = $NF
        sub(/ [0-9]+$/, "")
        for (i = 1; i <= n; i++)
            if ($0 !~ regex[i])
                next
        if (what == "all" || ENVIRON["WHOLE"] == "-" || $0 ~ ENVIRON["WHOLE"])
            sum += count
    } END { printf "%d\n", sum }' "$out/folded"
}

# judged FIGURE WHOLE RANGE WHY: right, cut, wrong, none
judged()
{
    if [ -z "$1" ]; then
        echo none
        return
    fi
    # shellcheck disable=SC2086 # words
    echo "$1 $2 ${3:-x}" | awk '{
        if (NF < 5) print "none"
        else if ($1 < $4 || $1 > $5) print "wrong"
        else if ($2 < $4 || $2 > $5) print "cut"
        else print "right"
    }'
}

example()
{
    peer=$(cell "$1" 1) command=$(cell "$1" 2) ours=$(cell "$1" 3) but=$(cell "$1" 4)
    workload=$(cell "$1" 5) events=$(cell "$1" 6) whole_regex=$(cell "$1" 7) expected=$(cell "$1" 8)
    [ "$ours" != same ] || ours=$command
    case $peer in
    bcc) [ "$bcc" ] ;;
    bpftrace) [ "$bpftrace" ] ;;
    libbpf-tools) [ "$libbpf_tools" ] ;;
    esac || return
    case $expected in
    cannot*) printf '%s\t%s\t%s\t%s\t-\t-\t-\t-\tnone\t%s\t-\t-\t-\tnone\t-\n' "$peer" "$command" "$ours" "$but" \
                 "${expected#cannot }"; return ;;
    esac
    side "$peer" "$command"
    theirs="${range:--}	${figure:--}	${whole:--}	$(judged "$figure" "$whole" "$range")	${why:--}"
    side stackbox "$ours"
    # Each tool has a range of its own, as times differ from run to run.
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$peer" "$command" "$ours" "$but" "$workload" "$theirs" \
        "${range:--}	${figure:--}	${whole:--}	$(judged "$figure" "$whole" "$range")	${why:--}"
}

# Makes a block device and a file system, if that is possible here.
make_disk()
{
    DEVICE='' DIRECTORY=''
    export DEVICE DIRECTORY
    truncate -s 16M "/tmp/beside.$$" && mkfs.ext4 -q "/tmp/beside.$$" 2>/dev/null &&
        DEVICE=$(losetup --show -f "/tmp/beside.$$" 2>/dev/null) || return 0
    mkdir -p "/tmp/beside.$$.d"
    mount "$DEVICE" "/tmp/beside.$$.d" 2>/dev/null && DIRECTORY=/tmp/beside.$$.d
}

clean_up()
{
    # shellcheck disable=SC2086 # words
    kill -s KILL ${tracer:-} ${pid:-} 2>/dev/null
    [ -z "$DIRECTORY" ] || umount "$DIRECTORY"
    [ -z "$DEVICE" ] || losetup -d "$DEVICE"
    rm -rf "/tmp/beside.$$" "/tmp/beside.$$.d" "$out"
}

# tests/bench/beside.sh in the guest prints its results to the serial line.
run_guest()
{
    log=build/beside/guest-$guest.log
    sh scripts/kernels.sh --peers "$guest" || exit
    printf '%s\n' "$only" >build/beside/only
    # shellcheck disable=SC2046 # words
    sh scripts/guest.sh --name "$guest" --log "$log" --memory 4096 --timeout 7200 --test-timeout 7100 \
        --append norandmaps --under "build/kernels/$guest/peers.cpio" --file build/beside/only \
        --programs 'session burn sleeps wakes usdt chains' --file build/release/workloads/dynamic/chores \
        $(printf -- '--file %s ' scripts/beside.sh scripts/beside/* scripts/bench/*.sh) \
        "$guest" -- tests/bench/beside.sh || exit
    sed -n 's/^@row\t//p' "$log" >"$results"
}

[ "$(id -u)" = 0 ] || { echo "beside.sh: tracing needs root" >&2; exit 1; }
[ -n "${BUILT:-}" ] || make -s stackbox workloads || exit 1
mkdir -p "$(dirname "$results")" build/beside || exit 1
if [ "$guest" ]; then
    run_guest
    exit
fi
if [ "$peers_of" ]; then
    in_peers_root "$peers_of" sh scripts/beside.sh --only "$only" --results "$results"
    status=$?
    # An absolute path was one in that root; a relative one is the same file here.
    case $results in
    /*) cp "$peers_root$results" "$results" || exit ;;
    esac
    exit $status
fi
[ -d /sys/kernel/tracing/events ] || mount -t tracefs none /sys/kernel/tracing || exit 1
rm -rf $out
mkdir -p $out || exit 1
find_peers
trap clean_up EXIT
trap 'exit 1' HUP INT TERM
make_disk
{
    printf '# %s\t%s\n' date "$(date -u +%Y-%m-%d)" kernel "$(uname -r)${NOTE:+, $NOTE}" \
        stackbox "$(./stackbox --version | sed 's/^stackbox //')"
    peers_versions
} | tee "$results"
row=0
grep -v '^#' scripts/beside/examples >$out/examples
while IFS= read -r line <&3; do
    row=$((row + 1))
    printf '%s\n' "$line" | grep -qE -e "$only" || continue
    example "$line" 2>"$out/said" | tee -a "$results"
done 3<$out/examples
