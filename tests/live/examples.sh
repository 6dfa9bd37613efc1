#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: 6.12
# host: yes
# later: three minutes, for which its runs last
#
# Each command in README.md and the pages in src/docs, and each example in a help text, typed as it stands,
# does what it is said to do. None can be forgotten: each must be in the table below, and vice versa.
#
# As it stands, except: 185 is a process of ours; times are 1 s (a day: 3 s); a Ctrl-C that ends it
# comes a second after the first line. Commands that need kernel probes run if the kernel has them;
# otherwise the test only checks their command line. Guests run only these.
LIMIT=600 # the process that they are all tried on lives until the end
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
top=$(cd "${0%/*}/../.." && pwd)
pages="$top/README.md $top/src/docs/*.md"
export PATH="$scratch/bin:$PATH"
everyday=$WORKLOADS/dynamic/everyday

# COMMAND => NEEDS => PRINTED: NEEDS is kprobes, syscalls (tracepoints of them), a program, -, or `fails` and
# the exit status. PRINTED is an extended regular expression of a line that it prints; or FILE: REGEX, of a
# file that it writes; or nothing.
table()
{
    cat <<'END'
stackcount -K -D 2 vfs_read => kprobes => ^  vfs_read$
stackcount --top 1 c:malloc -- ls /usr => - => ^    ls \([0-9]+\)$
stacksnoop -K --max 1 t:sched:sched_process_exec => - => ^[0-9.]+ +[^ ]+ +[0-9]+ +[0-9]+ +[0-9]+ +sched:sched_process_exec$
profile -F 997 --top 1 -- dd if=/dev/urandom of=/dev/null bs=1M count=200 => - => ^    -  +dd \([0-9]+\)$
stackcount --sum arg1 --unit bytes --if 'arg1 >= 4K' --top 1 c:malloc -- ls /usr => - => ^    [0-9]+ bytes$
walltime -K --tree 10 -- sh -c 'dd if=/dev/urandom bs=1M count=50 | (sleep 0.3; cat >/dev/null)' => - => ^ +[0-9.]+  dd$
profile --live -p 185 => - => ^  self%  total%  of [0-9]+ samples$
offcputime --top 1 -- sh -c 'sleep 0.3 | cat' => - => ^        [0-9]{6,}$
wakeuptime -K --top 1 -- sh -c 'sleep 0.3 | cat' => - => ^    waker:  
offwaketime --top 1 -- sh -c 'sleep 0.3 | cat' => - => ^    target:  
flamegraph --format text --diff before.folded after.folded => - => ^before 4, now 7$
offwaketime -K -m 500 -o waits.svg -- sh -c 'tar -C /usr -cf - share/doc | gzip -1 | wc -c' => - => waits.svg: gzip
offwaketime --pairs --top 3 -- sh -c 'tar -C /usr -cf - share/doc | gzip -1 | wc -c' => - => ^ +[0-9]+ +[0-9]+ +[0-9]+  (tar|wc) \([0-9]+\) <- gzip \([0-9]+\)$
profile -F 997 --flat 4 -- dd if=/dev/urandom of=/dev/null bs=1M count=200 => - => ^ +[0-9.]+ +[0-9.]+  (chacha|get_random_bytes)
walltime -F 997 --tree=10 -p 185 5 => - => ^ +[0-9.]+  .*\[(blocked|running|runnable)\]$
check stackcount => - => ^bpf\(2\): yes
stackcount vfs_raed => fails 1 => near: vfs_read, vfs_readv
stackcount 5 => fails 2 => did you mean -D 5
stackcount -D 5 vfs_read => kprobes => ^  vfs_read$
stackcount -K 'tcp_send*' 'tcp_recv*' => kprobes => ^Tracing [0-9]+ functions for "tcp_send\*", "tcp_recv\*"
stackcount -K 'tcp_send*' => kprobes => ^Tracing [0-9]+ functions for "tcp_send\*"
stackcount -p 185 t:syscalls:sys_enter_futex => syscalls => futex|cond_signal
stackcount -i 1 -T r::vfs_read => kprobes => ^[0-9]+:[0-9]+:[0-9]+
stackcount -p 185 c:malloc => - => ^  malloc$
stackcount c:malloc -- make => - => ^    [a-z]+ \([0-9]+\)$
stackcount --sum arg1 --unit bytes c:malloc => - => ^    [0-9]+ bytes$
stackcount --sum bytes_req t:kmem:kmalloc => - => ^    [0-9]+ bytes$
stackcount --if 'ret < 0' r::vfs_read => kprobes => ^Tracing 1 function for "r::vfs_read"
stackcount --if 'fd == 2 && count >= 4K' t:syscalls:sys_enter_write => syscalls => ^Tracing 1 event 
stacksnoop --print arg1 --if 'arg1>=1M' c:malloc => - => ^TIME
stacksnoop --print call_site,bytes_req t:kmem:kmalloc => - => kmem:kmalloc call_site=0x[0-9a-f]+ bytes_req=[0-9]+$
stackcount --list 'u:stdc++:*' => - => ^u:.*libstdc\+\+.*:throw$
stackcount -o out.svg t:block:block_rq_insert => - => out.svg: <svg
stacksnoop --max 10 t:sched:sched_process_exec => - => sched:sched_process_exec$
profile 5 => - => ^    -  +everyday \([0-9]+\)$
profile -F 997 -p 185 => - => ^    -  +everyday \([0-9]+\)$
profile -p 185 -F 997 => - => ^    -  +everyday \([0-9]+\)$
offcputime -K 5 => - => ^    -  +everyday \([0-9]+\)$
offcputime -m 1000 -p 185 5 => - => ^    -  +everyday \([0-9]+\)$
offwaketime -o out.svg 5 => - => out.svg: everyday
profile -o out.svg -- make -j8 => - => out.svg: <svg
offcputime --by name -- make -j8 => - => ^    -  +[a-z]+ 
profile -o cpu.svg 30 => - => cpu.svg: everyday
offwaketime -o who.svg -p 185 10 => - => who.svg: everyday
profile -o a.svg -o a.pb.gz -o a.folded 30 => - => a.folded: ^everyday;.* [0-9]+$
profile -i 60 -o 'p-%t.folded' -D 86400 => - => p-*.folded: ^everyday;.* [0-9]+$
stackcount --flat 20 t:syscalls:sys_enter_openat => syscalls => ^  self%  total%  of [0-9]+ events$
flamegraph --diff before.folded after.folded > diff.svg => - => diff.svg: before 4, now 7
check => - => ^flamegraph: yes
check profile => - => ^profile: yes
check --format json offcputime => - => "name": "offcputime", "yes": true
setpriv --reuid nobody --clear-groups --inh-caps +bpf,+perfmon --ambient-caps +bpf,+perfmon stackbox check => setpriv => ^bpf\(2\): yes
profile -o out.svg 30 => - => out.svg: everyday
profile -U -C 0 5 => - => ^Sampling at 49 Hertz
profile -e page-faults -c 1 -p 185 5 => - => ^    -  +everyday \([0-9]+\)$
profile -i 10 -T --top 5 => - => ^[0-9]+:[0-9]+:[0-9]+
offcputime 5 => - => ^    -  +everyday \([0-9]+\)$
offcputime -p 185 -m 1000 => - => ^    -  +everyday \([0-9]+\)$
offcputime -K --state D 10 => - => ^Tracing off-CPU time
offcputime -f -u 10 > out.folded => - => out.folded: ^everyday;.* [0-9]+$
offcputime --unfinished -p 185 5 => - => ^    -  +everyday \([0-9]+\)$
wakeuptime 5 => - => ^    target:  +everyday \([0-9]+\)$
wakeuptime -p 185 => - => ^    target:  +everyday \([0-9]+\)$
wakeuptime -o out.svg 10 => - => out.svg: everyday
offwaketime 5 => - => ^    target:  +everyday \([0-9]+\)$
offwaketime --pairs 5 => - => ^ +[0-9]+ +[0-9]+ +[0-9]+  .* <- 
offwaketime -p 185 -m 1000 => - => ^    target:  +everyday \([0-9]+\)$
offwaketime -o out.svg 10 => - => out.svg: everyday
stacksnoop -p 185 c:malloc => - => ^	malloc$
stacksnoop --max 10 'tcp_connect*' => kprobes => tcp_connect
stacksnoop -T t:sched:sched_process_exec => - => ^[0-9]+:[0-9]+:[0-9.]+ .*sched:sched_process_exec$
stacksnoop -K -d -s r::vfs_unlink => kprobes => r:vfs_unlink$
stacksnoop t:sched:sched_process_exec -- make -j4 => - => sched:sched_process_exec$
stacksnoop --format json --max 10 c:malloc => - => "user":\[.*"name":"malloc","file":"libc.so.6",
stacksnoop --format perf -D 5 t:block:block_rq_insert > out.perf => - => out.perf: 
walltime -p 185 10 => - => ^    \[blocked\]$
walltime --tree -- make => - => \[blocked\]
walltime --by thread -p 185 5 => - => ^    -  +everyday \([0-9]+\)$
walltime --by thread -o out.svg -p 185 10 => - => out.svg: \[blocked\]
walltime -o out.svg -p 185 10 => - => out.svg: \[blocked\]
flamegraph stacks.folded > stacks.svg => - => stacks.svg: <svg
flamegraph --title build --countname us -o build.svg stacks.folded => - => build.svg: <svg
flamegraph --reverse --inverted stacks.folded > leaves.svg => - => leaves.svg: <svg
flamegraph --diff old.folded new.folded > diff.svg => - => diff.svg: before 4, now 7
flamegraph --format text --normalize --diff old.folded new.folded => - => ^before 
flamegraph --diff --fail-above 5% old.folded new.folded => - => ^no function grew by more than 5% of all
profile -o run.sbx 10 => - => run.sbx: 
report run.sbx => - => ^    -  +dd \([0-9]+\)$
report a.sbx b.sbx => - => ^    -  +dd \([0-9]+\)$
report --symfs sysroot -o out.svg run.sbx => - => out.svg: get_random_bytes
report --missing run.sbx => - => ^[0-9a-f]{8,}$
report --flat 10 monday.sbx tuesday.sbx => - => ^ +[0-9.]+ +[0-9.]+  (chacha|get_random_bytes)
report --diff before.sbx after.sbx => - => ^report: before ([0-9]+), now \1 samples$
check stackcount stacksnoop => - => ^stacksnoop: yes
stackbox check => - => ^flamegraph: yes
stackbox profile 5 => - => ^    -  +everyday \([0-9]+\)$
stackbox --install /usr/local/bin => - => nothing
stackbox stackcount --man | man -l - => man => ^(NAME|.*SYNOPSIS)
END
}

applets=$("$STACKBOX" | cut -d ' ' -f 1)
mkdir "$scratch/bin" "$scratch/links" && "$STACKBOX" --install "$scratch/bin" >/dev/null &&
    ln -s "$STACKBOX" "$scratch/bin/stackbox" || exit 1
chmod 755 "$scratch"

# The pages' examples: lines indented by four blanks, up to the two blanks before an explanation, and what
# follows the # of a session. Where no links exist yet, applets are typed after ./stackbox. setpriv is not
# an applet, but runs one.
page_commands()
{
    # shellcheck disable=SC2086 # words, and a pattern
    names=$(echo $applets setpriv | tr ' ' '|')
    # shellcheck disable=SC2086
    sed -n -E "s#^    (\./stackbox )?(($names)( .*)?)\$#\2#p; s/^# (\.\/stackbox )?(($names) .*)\$/\2/p" \
        $pages | sed 's/   *[^ ].*//'
}

help_commands()
{
    "$STACKBOX" --help | sed -n "/^Examples:/,\$s/^  \(stackbox\)/\1/p"
    for applet in $applets; do
        "$STACKBOX" "$applet" --help | sed -n "/^Examples:/,\$s/^  \($applet\)/\1/p"
    done
}

page_commands >"$scratch/pages"
help_commands >"$scratch/help"
table >"$scratch/table"
between "the pages have examples" "$(grep -c . "$scratch/pages")" 30 80
between "help texts have examples" "$(grep -c . "$scratch/help")" 30 80
sort -u "$scratch/pages" "$scratch/help" >"$scratch/found"
sed 's/ => .*//' "$scratch/table" | sort >"$scratch/known"
is "each example is in the table of this test" "$(comm -23 "$scratch/found" "$scratch/known")" ""
is "the table has nothing else, and nothing twice" "$(comm -13 "$scratch/found" "$scratch/known")" ""

# Something to trace: files are read and removed, connections tried, programs run.
activity()
{
    while :; do
        while read -r _; do :; done </proc/self/mounts
        : >"$scratch/removed" && rm "$scratch/removed"
        nc 127.0.0.1 9 </dev/null >/dev/null 2>&1
        sleep 0.05
    done
}

prepare()
{
    activity &
    kill_at_end $!
    # A make that runs two programs, as guests have none.
    command -v make >/dev/null || printf '#!/bin/sh\ntrue\n/bin/busybox true\n' >"$scratch/bin/make"
    [ ! -f "$scratch/bin/make" ] || chmod 755 "$scratch/bin/make"
    "$STACKBOX" profile -F 997 -o "$scratch/dd.sbx" -- dd if=/dev/urandom of=/dev/null bs=1M count=100 2>/dev/null
    pid=$$
    [ -x "$everyday" ] || return
    start_workload everyday "$everyday" -w
    pid=$(pid_of everyday)
}

# Like Ctrl-C. It may have ended by itself.
stop_it()
{
    if wait_until "$LIMIT" tracing_runs && ! ended "$stackbox"; then
        sleep 1.5
        kill -s INT "$stackbox"
    fi
}

# type_it COMMAND: runs it in a directory of its own that has the files it names; results as for run_stackbox
type_it()
{
    rm -rf "$scratch/here" && mkdir "$scratch/here" && cd "$scratch/here" || return
    printf 'all: one two\none two:\n\tcat /proc/version >/dev/null\n' >Makefile
    printf 'main;a 3\nmain;b 1\n' | tee stacks.folded old.folded >before.folded
    printf 'main;a 3\nmain;b 4\n' | tee new.folded >after.folded
    mkdir sysroot
    for name in run a b before after monday tuesday; do
        [ "$1" = "profile -o run.sbx 10" ] || cp "$scratch/dd.sbx" $name.sbx
    done
    typed=$(echo "$1" | sed -E "s/ -p 185/ -p $pid/; s/ -D 86400/ -D 3/; s/ -i (60|10) / -i 1 /
        s/ -D [25] / -D 1 /; s#/usr/local/bin#$scratch/links#
        / --top 5\$/!s/^((stackbox )?(profile|off|wake)[^>]*) (5|10|30)( >|\$)/\1 1\5/")
    : >"$scratch/out" && : >"$scratch/err"
    "$WORKLOADS/session" --limit "$LIMIT" sh -c "exec $typed" </dev/null \
        >"$scratch/out" 2>"$scratch/err" &
    stackbox=$!
    kill_at_end "$stackbox"
    case "$typed " in
    *" --top 5 ") stop_it ;;
    *" -D "* | *" 1 " | *" 1 > "* | *--max* | *" -- "* | *--list* | flamegraph* | report* | check* | \
        setpriv* | stackbox*) ;;
    *) stop_it ;;
    esac
    wait_stackbox
}

# printed COMMAND PRINTED: what it printed matches the table
printed()
{
    case $2 in
    nothing) [ ! -s "$scratch/out" ] && [ ! -s "$scratch/err" ] ;;
    [a-z]*.svg:* | [a-z]*.folded:* | [a-z]*.perf:* | [a-z]*.sbx:*)
        # shellcheck disable=SC2086,SC2144 # a file's name may be a pattern
        set -- "$1" "${2#*: }" $scratch/here/${2%%:*}
        [ -f "$3" ] && { [ ! "$2" ] || grep -qE -e "$2" "$3"; }
        ;;
    *) grep -qE -e "$2" "$scratch/out" "$scratch/err" ;;
    esac
}

# example COMMAND NEEDS PRINTED
example()
{
    expected=0
    case $2 in
    'fails '*) expected=${2#* } ;;
    esac
    case $2 in
    kprobes) have_kprobes && here=yes || here=no ;;
    syscalls) have_syscall_tracepoints && here=yes || here=no ;;
    setpriv | man) command -v "$2" >/dev/null && here=yes || here=no ;;
    *) here=yes ;;
    esac
    [ ! "$GUEST" ] || [ "$2" = kprobes ] || return 0
    if [ "$here" = no ]; then
        eval "set -- $(echo "$1" | sed 's/ [>|] .*//; s/ -- .*//') --help"
        "$@" >"$scratch/out" 2>&1
        is "without $needs, its command line is accepted: $command" $? 0
        return
    fi
    type_it "$1"
    if [ "$status" != "$expected" ]; then
        fail "$1" "exit status $status: $(head -c 400 "$scratch/err" | tr '\n' '|')"
    elif ! printed "$1" "$3"; then
        fail "$1" "nothing like \"$3\": $(cat "$scratch/out" "$scratch/err" | tail -c 400 | tr '\n' '|')"
    else
        pass "$1"
    fi
}

prepare
while IFS= read -r row <&3; do
    command=${row%% => *} rest=${row#* => }
    needs=${rest%% => *}
    example "$command" "$needs" "${rest#* => }"
done 3<"$scratch/table"
