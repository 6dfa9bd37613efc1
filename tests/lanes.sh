# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What runs at the same time, and in which order: read by run.sh.
#
# A job is a line of shell. Three lanes run the jobs, on two CPUs: two run guests, each of which
# takes a CPU, and the third runs the tests of this machine's kernel, one after another. All other
# jobs disturb no tests, and go to any lane without work, so that none is idle before the end. A
# lane is another run.sh.

# header FILE KEY DEFAULT: a value that a live test states in its first lines
header()
{
    value=$(sed -n "1,20s/^# $2: *//p" "$1" | head -n 1)
    echo "${value:-$3}"
}

# says TEST WORD: do its first lines have this word?
says()
{
    sed 20q "$1" | grep -q "^# $2\$"
}

# due FILE: does a test of this machine belong to this run? One with `later`, which takes long or
# needs large tools, belongs to `make test-guests`; with `again`, which can do more there, to both.
due()
{
    case $kind in
    test)   [ ! "$(header "$1" later '')" ] ;;
    guests) [ "$(header "$1" later '')$(header "$1" again '')" ] ;;
    esac
}

# guests_of TEST: the kernels in whose guests it runs. `make test-guests` uses kernels that differ
# in what the test checks; `kernels` are the others, for `make test-kernels` ($ALL_KERNELS).
guests_of()
{
    echo ",$(header "$1" guests all),"
    [ -z "${ALL_KERNELS:-}" ] || echo ",$(header "$1" kernels ''),"
}

# live_tests WHERE with|without WORD: the tests that run on `host` or in a guest and state WORD, or
# do not; those that state `last` come last
live_tests()
{
    for test in tests/live/*.sh; do
        case $test in tests/live/lib*.sh) continue ;; esac
        case $1 in
        host) [ "$(header "$test" host yes)" = yes ] && due "$test" || continue ;;
        *)    case $(guests_of "$test") in
              *",$1,"* | ,all,*) ;;
              *) continue ;;
              esac ;;
        esac
        case $2 in
        with) says "$test" "$3" || continue ;;
        without) says "$test" "$3" && continue ;;
        esac
        if says "$test" last; then
            echo "2 $test"
        else
            echo "1 $test"
        fi
    done | sort -s -k 1,1 | cut -d ' ' -f 2
}

# guest KERNEL NAME TESTS OPTION...: one guest, if there is anything to run in it
guest()
{
    kernel=$1 guest=$2 tests=$3
    shift 3
    [ "$tests" ] || return
    # shellcheck disable=SC2086 # a list of words
    part "${long_limit:-3100}" "guest-$guest" env STACKBOX="$PWD/stackbox" sh scripts/guest.sh --name "$guest" \
        --timeout 2400 --log "$logs/serial-$guest.log" "$@" "$kernel" -- $tests
}

# alone KERNEL: a guest with only the binary and what it traces
alone()
{
    part "${long_limit:-3100}" "guest-$1-alone" env STACKBOX="$PWD/stackbox" sh scripts/guest.sh --alone \
        --name "$1-alone" --log "$logs/serial-$1-alone.log" "$1"
}

# own_clock KERNEL OPTION...: a guest for tests that check times
own_clock()
{
    kernel=$1
    shift
    guest "$kernel" "$kernel-own-clock" "$(live_tests "$kernel" with "own clock")" --own-clock "$@"
}

# The guest of `make test`, for tests of what this machine may lack (kernel probes, counters), and
# for tests that need a clock of their own.
jobs_first()
{
    echo "guest 6.12 6.12 '$(named exact stacks profile_shares offcputime walltime)' --own-clock"
}

# The longest jobs come first, so that no lane begins one at the end.
#
# Guests that run most of the tests boot without CPU mitigations, which cost an emulated CPU a fifth of
# its time; all others boot as Debian has them.
jobs_guests()
{
    many_tests newest
    # These boards have one CPU here; `make test-arch` has two.
    for kernel in arm64-newest riscv64-newest; do
        echo "board_guest $kernel $kernel \"\$(board_tests $kernel)\" --cpus 1"
    done
    echo "own_clock 5.10"
    many_tests 5.10
    # A guest that resembles another machine: all of these are in `make test-machine`.
    echo "own_clock 6.12 --machine"
    many_tests 6.12
    echo "board arm64-newest own-clock"
    echo "own_clock newest"
    many_tests 6.1
    # PREEMPT_RT: locks sleep, and more code can be preempted.
    echo "guest rt-6.12 rt-6.12 '$(named exact walltime walltime_stages time_namespaces)' --own-clock"
    # One CPU: two threads never run at once.
    echo "guest 5.10 5.10-one-cpu tests/live/exact.sh --cpus 1 --append nr_cpus=1"
    # By the host's clock, a stalled CPU uses up what the kernel grants the thread that makes tables.
    echo "guest newest newest-128-MB '$(named unwind_idle unwind_cold)' --cpus 1 --memory 128 --own-clock \
--programs 'session bare calls spread'"
    echo "guest newest newest-preempt tests/live/user_preempt.sh --append preempt=full"
    # The kernel must be locked down at boot.
    echo "guest 6.12 6.12-locked tests/live/lockdown.sh --append lockdown=confidentiality"
    little_memory 5.10 64 --append mem=64M --test-timeout 600
    echo "alone newest"
    echo "part 900 guest-first sh tests/guest/first.sh"
    echo "part 900 guest-harness sh tests/guest/harness.sh"
}

# Every test on every kernel that it is for, and some on kernels booted with other options
jobs_kernels()
{
    preempted="'tests/live/exact.sh tests/live/user_preempt.sh tests/live/snoop.sh'"
    for kernel in newest 5.10 6.12 6.1; do
        echo "long_limit=6100 $(many_tests $kernel --timeout 6000)"
        echo "own_clock $kernel"
        echo "alone $kernel"
    done
    echo "guest newest newest-preempt $preempted --append preempt=full"
    echo "guest 6.12 6.12-preempt $preempted --append preempt=full"
    echo "guest 6.12 6.12-one-cpu $preempted --cpus 1 --append nr_cpus=1"
    little_memory newest 96
    little_memory 5.10 96
    for board in '5.10 72' '5.10 96' 'newest 88'; do
        echo "small_board $board"
    done
}

# many_tests KERNEL OPTION...: tests that do not check times
many_tests()
{
    kernel=$1
    shift
    echo "guest $kernel $kernel \"\$(live_tests $kernel without 'own clock')\" --append mitigations=off" "$@"
}

# little_memory KERNEL MB OPTION...: kernels take about 40 MB. With 64 MB only the oldest can boot,
# and loading its image and ours takes more.
little_memory()
{
    kernel=$1 megabytes=$2
    shift 2
    echo "guest $kernel $kernel-$megabytes-MB tests/live/small_memory.sh \
--programs 'session deny eater spread burn sleeps wakes calls' --memory 96" "$@"
}

# small_board KERNEL MB OPTION...: whole runs in as little memory as this kernel boots in, or little more
small_board()
{
    kernel=$1 megabytes=$2
    shift 2
    board_guest "$kernel-$megabytes-MB" "$kernel" "$(named small_boards)" --cpus 1 --memory "$megabytes" \
        --programs 'session bare wakes' "$@"
}

# board_tests KERNEL [own-clock]: the most informative live tests, for kernels of other machines.
# For tests that check times, the guest has its own clock. Tests of arm64-newest and riscv64-newest
# (`make test-guests`) are not repeated on other kernels of these machines.
board_tests()
{
    case $1,${2:-} in
    # Its kernel excludes interrupts from thread CPU time, a tenth of it in emulation: so there are
    # more samples than time. On riscv64 all of this is slower than on a real CPU.
    arm64-*,own-clock) names='profile_shares offcputime wakeuptime profile_itself' ;;
    riscv64-*,own-clock) names='profile_shares offcputime wakeuptime profile' ;;
    armhf-*,own-clock) names='profile_shares offcputime wakeuptime' ;;
    *,own-clock) names= ;; # MIPS: its timers stand still there
    mipsel-*,) names='rings_boards profile_shares ptrace ptrace_times ptrace_calls' ;;
    # Other tests probe kernel functions, which kills threads on this kernel.
    mips64el-*,) names='rings_boards ptrace_calls' ;;
    arm64-newest, | riscv64-newest,)
        names='exact older stacks unwind trampolines frame_pointers kernel_callers user_attach user_usdt snoop'
        names="$names ptrace_calls check_machine unwind_cold"
        ;;
    arm64-6.12, | riscv64-6.12,)
        names='exact older stacks unwind ptrace ptrace_times check_machine call_names'
        ;;
    loong64-*,)
        names='exact older rings_boards values interrupts ptrace ptrace_times ptrace_calls check_machine call_names'
        ;;
    armhf-newest,)
        names='exact older kernel_callers frame_pointers rings_exidx ptrace_calls check_machine call_names'
        ;;
    *,) names='exact older check_machine call_names' ;;
    esac
    [ "$1,${2:-}" != arm64-newest, ] || names="$names ptrace_hits" # the others have no breakpoints
    # shellcheck disable=SC2086 # a list of words
    [ -z "$names" ] || named $names
}

# named NAME...: these live tests
named()
{
    printf 'tests/live/%s.sh ' "$@"
}

# board KERNEL [own-clock]: a guest of another machine, with all its tests
board()
{
    tests=$(board_tests "$@")
    [ -z "$tests" ] || board_guest "$1${2:+-$2}" "$1" "$tests" ${2:+--$2}
}

# board_guest NAME KERNEL TESTS OPTION...: guest.sh builds binary and programs for it
board_guest()
{
    guest=$1 kernel=$2 tests=$3
    shift 3
    # shellcheck disable=SC2086 # a list of words
    part "${long_limit:-3100}" "guest-$guest" env -u STACKBOX -u WORKLOADS sh scripts/guest.sh --name "$guest" \
        --timeout 2400 --test-timeout 900 --log "$logs/serial-$guest.log" "$@" "$kernel" -- $tests
}

# The armv7 binary on an arm64 kernel with arm64 programs
armv7_on_arm64()
{
    if ! command -v arm-linux-gnueabihf-gcc >/dev/null; then
        skip_part guest-arm64-newest-armv7 "arm-linux-gnueabihf-gcc is not installed"
        return
    fi
    sh scripts/cross.sh --programs armv7
    board_guest arm64-newest-armv7 arm64-newest tests/guest/armv7.sh --own-clock \
        --file build/cross/armv7/stackbox --file build/cross/armv7/workloads/calls
}

jobs_arch()
{
    for kernel in loong64-newest mipsel-6.1 mips64el-6.1 armhf-newest arm64-6.12 riscv64-6.12 s390x-newest \
        ppc64el-newest arm64-16k-newest arm64-5.10 armhf-6.12 armhf-5.10; do
        echo "board $kernel"
    done
    for kernel in riscv64-newest armhf-newest; do
        echo "board $kernel own-clock"
    done
    # On two CPUs, which wait for each other
    echo "board_guest riscv64-newest-two-cpus riscv64-newest '$(named stacks)' --cpus 2"
    # Little in it depends on the machine.
    echo "board_guest arm64-newest-filters arm64-newest '$(named filters)' --cpus 1"
    for board in 'armhf-newest 66' 'mipsel-6.1 48' 'mips64el-6.1 48'; do
        echo "small_board $board --append nokaslr"
    done
    echo armv7_on_arm64
    echo "part 2400 guest-recordings sh tests/guest/recordings.sh arm64-newest riscv64-newest loong64-newest \
armhf-newest s390x-newest mipsel-6.1 mips64el-6.1"
    for arch in loongarch64 mipsel mips mips64el; do
        echo "run_cross cross-$arch $arch"
    done
    # The slowest unit tests differ little between machines.
    for arch in aarch64 riscv64 s390x ppc64el i386; do
        echo "run_cross cross-$arch --sample $arch"
    done
}

# The tests for this machine, in guests that resemble other machines: with few CPUs and with many,
# all of which one thread of the emulator runs.
jobs_machine()
{
    for cpus in 1 2 8; do
        for kernel in newest 5.10; do
            echo "long_limit=12100 guest $kernel $kernel-machine-$cpus \"\$(machine_tests $kernel)\" \
--machine --cpus $cpus --test-timeout 900 --timeout 6000"
        done
    done
    for kernel in newest 5.10 6.12 6.1; do
        echo "own_clock $kernel --machine"
    done
    echo "long_limit=12100 guest newest newest-machine-64 'tests/live/exact.sh tests/live/spill.sh' \
--machine --cpus 64 --memory 2048 --test-timeout 2000 --timeout 6000"
}

# machine_tests KERNEL: the tests for this machine and this guest that a guest has all files for.
# (It lacks the library for README's C++ programs.)
machine_tests()
{
    {
        live_tests host without "own clock"
        live_tests "$1" without "own clock"
    } | grep -v '/examples\.sh$' | sort | uniq -d
}

# Sampling, mounting, tracing and limiting affect the whole machine: only one at a time,
jobs_host()
{
    for test in $(live_tests host without quiet); do
        says "$test" beside || echo "run_live $test"
    done
}

# except tests of signals and exit statuses, which other tests do not affect.
jobs_beside()
{
    for test in $(live_tests host with beside); do
        echo "run_live $test"
    done
}

# Independent parts: those that need no other compiler,
jobs_quick()
{
    for script in tests/cli/*.sh; do
        due "$script" && echo "script $script"
    done
    echo run_units
}

# and those that do. (Readers are large: only one at a time.)
jobs_more()
{
    for script in tests/cli/*.sh; do
        ! due "$script" || echo "script $script"
        # Not with sanitizers, as these take long and gain little: shell only, texts, and what fuzzers run
        # with sanitizers anyway.
        case ${script##*/} in
        floors.sh | deb.sh | dist.sh | install.sh | manual.sh | packages.sh | unpack.sh | unwind.sh) ;;
        *) echo "script_sanitized $script" ;;
        esac
    done
    echo "unit $slow_unit"
    echo run_units_sanitized
    echo run_fuzzers
    echo "run_cross cross --sample armv7"
    echo run_readers
    echo "run_compiler gcc"
    echo "run_compiler clang"
}

# take_jobs KIND...: runs the jobs that no lane has taken, one after another
take_jobs()
{
    for jobs in "$@"; do
        number=0
        IFS='
'
        for job in $("jobs_$jobs"); do
            unset IFS
            number=$((number + 1))
            mkdir "$logs/taken/$jobs-$number" 2>/dev/null && eval "$job"
        done
        unset IFS
    done
}

# lane KIND...: runs in the background, as a process group that can be ended at once
lane()
{
    setsid sh tests/run.sh "$kind" "$@" &
    lanes="${lanes:-} $!"
}

end_lanes()
{
    trap '' HUP INT TERM
    [ ! "${progress:-}" ] || kill "$progress"
    for leader in ${lanes:-}; do
        kill -s TERM -- "-$leader" 2>/dev/null
    done
    end_limited $logs/running.*
    reset_sysctls
    exit 130
}

# Waits only for lanes, not for processes that a lane may have left behind.
run_lanes()
{
    mkdir $logs/taken
    case $kind in
    test)
        lane host beside quick
        lane first beside quick
        lane beside quick
        ;;
    guests)
        lane guests more
        lane guests more
        lane host beside more guests
        ;;
    *)
        # Each guest takes one CPU.
        for _ in $(seq "$(nproc)"); do
            lane "$kind"
        done
        ;;
    esac
    # shellcheck disable=SC2086 # numbers
    wait $lanes
    if [ "${CI:-}" = true ] &&
        ! grep -q '^guest-.* [1-9][0-9]* [0-9]* [0-9]* [0-9]*$' $account; then
        echo "FAIL guests: CI=true, and no guest ran" >$logs/guests.log
        report guests 0 0
    fi
}
