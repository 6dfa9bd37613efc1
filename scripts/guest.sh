#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# guest.sh [OPTION...] KERNEL -- TEST...     KERNEL: 5.10, 6.1, 6.12, newest; with the name of another machine
# guest.sh --alone [OPTION...] KERNEL        before it, that machine's: arm64-newest; rt-6.12: PREEMPT_RT
#                                            (scripts/kernels.sh)
# guest.sh --image FILE [OPTION...] MACHINE -- TEST...
#                                            MACHINE: x86-64, or one that may stand before a KERNEL
#
# Boots a Debian kernel in emulation, runs the TESTs (shell scripts below tests/) in it, and prints
# their PASS, FAIL and SKIP lines with the guest's name. The tests find the binary as $STACKBOX, the
# test programs in $WORKLOADS, kernel modules in $MODULES and the name of the guest as $GUEST.
#
# $STACKBOX and $WORKLOADS say which binary and test programs to use. Without STACKBOX, another machine's are
# built here (cross.sh --programs), from the present sources.
#
#   --image FILE       boots this kernel, from anywhere: src/README.md lists what it must have
#   --cpus N           CPUs (2; armhf, riscv64: 1)
#   --memory MB        memory (1024)
#   --append WORDS     more words for the kernel command line
#   --name NAME        the guest's name in the results (the kernel's, the image's file's)
#   --timeout S        for the whole guest (300)
#   --test-timeout S   for one test (300)
#   --programs NAMES   only these test programs: with all of them some guests have too little memory
#   --file PATH        one more file, at the same path from the root of this project
#   --under ARCHIVE    a cpio archive that is unpacked before everything else
#   --machine          (x86-64) like a machine in use, not a bare kernel: tracefs and debugfs are mounted,
#                      perf_event_paranoid is 3 and kptr_restrict 2, other tools' BPF programs are
#                      attached, and the tests run in a chroot whose /sys is that of the machine
#   --own-clock        one CPU, and time is the number of executed instructions
#   --alone            (x86-64) the guest has only the binary, a program that it traces, and an init that
#                      judges it (tests/workloads/carried.c): no shell, nothing mounted at first
#   --once             does not try again if the guest never reaches /init
#   --log FILE         keeps the serial line (build/test/guest-NAME.log)
#
# Exit: 0 all passed or skipped; 1 something failed; 77 the guest could not be run.

set -u
umask 022
cd "$(dirname "$0")/.." || exit 1

image= cpus= memory=1024 append= name= timeout=300 test_timeout=300 files= machine=no log= clock=no
alone=no once=no programs= under=

usage()
{
    echo "usage: guest.sh [OPTION...] KERNEL -- TEST..." >&2
    exit 2
}

# choose_image: boots $image; only busybox is Debian's, of the machine's newest kernel here
choose_image()
{
    if ! [ -r "$image" ]; then
        echo "guest.sh: $image: there is no such file, or it may not be read" >&2
        exit 2
    fi
    # The name becomes a word in the guest, and part of the log's path.
    name=${name:-$(basename "$image" | tr -c 'A-Za-z0-9._\n-' _)}
    kernel=${kernel#x86-64}
    kernel=${kernel:+$kernel-}newest
}

while [ $# -gt 0 ]; do
    case $1 in
    --image)   image=$2 ;;
    --cpus)    cpus=$2 ;;
    --memory)  memory=$2 ;;
    --append)  append=$2 ;;
    --name)    name=$2 ;;
    --timeout) timeout=$2 ;;
    --test-timeout) test_timeout=$2 ;;
    --programs) programs=$2 ;;
    --file)    files="$files $2" ;;
    --under)   under=$2 ;;
    --log)     log=$2 ;;
    --machine) machine=yes; shift; continue ;;
    --own-clock) clock=yes cpus=1; shift; continue ;;
    --alone)   alone=yes; shift; continue ;;
    --once)    once=yes; shift; continue ;;
    -*)        usage ;;
    *)         break ;;
    esac
    shift 2 || usage
done
if [ $alone = yes ]; then
    [ $# = 1 ] || usage
    set -- "$1" -- nothing-mounted proc-alone proc-and-sys
fi
[ $# -ge 3 ] && [ "$2" = -- ] || usage
kernel=$1
shift 2
[ ! "$image" ] || choose_image
name=${name:-$kernel}
log=${log:-build/test/guest-$name.log}

cannot()
{
    echo "SKIP guest-$name: $*"
    exit 77
}

# describe: sets the emulator and its options for this kernel's machine, its console, and cross.sh's
# name for it: all that differs between machines.
#
# One thread of the emulator runs all CPUs in turn. With a thread for each CPU, QEMU 7.2 may keep
# running old code after a kernel has patched itself to trace: memory had the tracepoint's branch,
# but the CPU ran the nop until the same bytes were written again. Then every tracer sees 0 events,
# even a plain perf counter. On x86-64, kernels panicked now and then.
#
# armhf, riscv64: kernels wait for their other CPU in loops that never yield the emulator's thread to it. With
# two CPUs armhf never reached /init, and riscv64 took several times as long. So their default is one CPU.
#
# no4lvl: page tables of three levels, as on boards, instead of five. The emulator walks them again after each
# switch between processes, and five levels take that much longer.
#
# x86-64 lacks cmpxchg16b: QEMU 7.2 leaves garbage in the flags after it, and an interrupt before
# the next flags are set saves and restores the garbage.
#
# loong64: QEMU's direct boot gives the kernel no table of PC devices, so its driver of PC keyboards
# reads from nowhere. QEMU before 10 cannot boot it.
#
# tsc=noirqtime: one virtual CPU stands still while the other runs, most often in an interrupt that
# involves both. If that counted as interrupt time, it would be in no thread's CPU time, and tests
# would take it for waiting.
describe()
{
    serial='-serial stdio' console=ttyAMA0 words= usual_cpus=2 least_qemu=0
    case $kernel in
    arm64-*)   arch=aarch64 emulator=qemu-system-aarch64 board='-M virt -cpu max,pauth-impdef=on' ;;
    armhf-*)   arch=armv7 emulator=qemu-system-arm board='-M virt,highmem=off -cpu cortex-a15'
               usual_cpus=1 ;;
    riscv64-*) arch=riscv64 emulator=qemu-system-riscv64 board='-M virt -cpu rv64 -bios default' console=ttyS0
               words=no4lvl usual_cpus=1 ;;
    loong64-*) arch=loongarch64 emulator=qemu-system-loongarch64 board='-M virt -cpu la464' console=ttyS0
               words=initcall_blacklist=i8042_init least_qemu=10 ;;
    s390x-*)   arch=s390x emulator=qemu-system-s390x board='-M s390-ccw-virtio -cpu max' console=ttysclp0
               serial='-chardev stdio,id=c0 -device sclpconsole,chardev=c0' ;;
    # A real CPU clears its caches against speculation, which QEMU cannot.
    ppc64el-*) arch=ppc64el emulator=qemu-system-ppc64 console=hvc0
               board='-M pseries,cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off -cpu power9' ;;
    mipsel-*)  arch=mipsel emulator=qemu-system-mipsel board='-M malta -cpu 24Kf' console=ttyS0
               usual_cpus=1 ;;
    mips64el-*) arch=mips64el emulator=qemu-system-mips64el board='-M malta -cpu MIPS64R2-generic' console=ttyS0
               usual_cpus=1 ;;
    *)         arch= emulator=qemu-system-x86_64 board='-cpu max,-cx16' console=ttyS0
               words=tsc=noirqtime ;;
    esac
}

# find_programs: sets $stackbox and $workloads
find_programs()
{
    stackbox=${STACKBOX:-$PWD/stackbox} workloads=${WORKLOADS:-$PWD/build/release/workloads}
    [ "$arch" ] || return 0
    if [ $machine$alone != nono ]; then
        echo "guest.sh: --machine and --alone are for kernels of x86-64" >&2
        exit 2
    fi
    stackbox=${STACKBOX:-$PWD/build/cross/$arch/stackbox}
    workloads=${WORKLOADS:-$PWD/build/cross/$arch/workloads}
    [ -z "${STACKBOX:-}" ] || return 0
    sh scripts/cross.sh --programs $arch >"$scratch/build" && return
    [ $? != 77 ] || cannot "$(cat "$scratch/build")"
    echo "FAIL guest-$name: $(cat "$scratch/build")"
    exit 1
}

# Only what the guest needs: unpacking takes a good part of the boot.
fill_root()
{
    for directory in bin proc sys dev tmp etc guest workloads modules tests/live; do
        mkdir -p "$root/$directory" || return 1
    done
    cp "build/kernels/$kernel/busybox" "$root/bin/" && cp tests/guest/init "$root/init" &&
        chmod 755 "$root/init" "$root/bin/busybox" && cp tests/live/lib*.sh "$root/tests/live/" ||
        return 1
    printf 'root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
    [ -f "$stackbox" ] && { cp "$stackbox" "$root/stackbox" || return 1; }
    for program in "$workloads"/*; do
        case " ${programs:-${program##*/}} " in
        *" ${program##*/} "*) ;;
        *) continue ;;
        esac
        [ -f "$program" ] && [ -x "$program" ] && { cp "$program" "$root/workloads/" || return 1; }
    done
    # An image's own modules are unknown.
    [ "$image" ] || cp "build/kernels/$kernel/modules"/*.ko "$root/modules/" 2>/dev/null
    for file in README.md src/docs/*.md "$@" $files; do
        mkdir -p "$root/$(dirname "$file")" && cp "$file" "$root/$file" || return 1
    done
    printf '%s\n' "$@" >"$root/guest/tests"
    printf 'GUEST=%s\nTEST_TIMEOUT=%s\nMACHINE=%s\n' "$name" "$test_timeout" "$machine" \
        >"$root/guest/settings"
}

fill_root_alone()
{
    cp "$workloads/carried" "$root/init" && cp "$workloads/known" "$root/known" &&
        cp "$stackbox" "$root/stackbox"
}

# Boots the guest; writes its serial line to $log as it comes, and prints the results in it.
#
# --own-clock: each instruction takes 4 ns, which is close to the real time, and when all CPUs sleep,
# the next timer fires at once. Otherwise the clock goes on while the emulator waits for its CPU or
# translates code; if that is in the middle of a guest's context switch, the kernel's account of CPU
# time and what is traced differ by as much, and nothing in the guest can tell. (With more than one
# CPU the emulator would let a waiting CPU spin for the other for very long.)
boot()
{
    : >"$log"
    icount=
    [ $clock = no ] || icount='-icount shift=2,sleep=off'
    # shellcheck disable=SC2086 # words
    timeout --foreground -k 5 "$timeout" $emulator $board $icount \
        -accel tcg,thread=single -smp "${cpus:-$usual_cpus}" -m "$memory" -nodefaults -no-user-config \
        -display none $serial -no-reboot -kernel "${image:-build/kernels/$kernel/vmlinuz}" \
        -initrd "$scratch/initramfs" \
        -append "console=$console quiet panic=-1 random.trust_cpu=on $words $append" </dev/null 2>&1 |
        sed -u 's/\r*$//' | tee "$log" | sed -un "s/^\(PASS\|FAIL\|SKIP\) /\1 guest-$name: /p"
}

# judge TESTS: verdicts from the whole log that no single test can give
judge()
{
    # shellcheck disable=SC2016 # awk's own $
    awk -v guest="guest-$name" -v log_name="$log" -v wanted="$1" '
        function fail(what, why) { printf "FAIL %s: %s: %s\n", guest, what, why; failed = 1 }
        /^@test /                { test = $2; lines = failures = 0 }
        /^(PASS|FAIL|SKIP) /     { lines++ }
        /^FAIL /                 { failures++; failed = 1 }
        /^@exit /                {
            ran++
            if ($2 == 137)                 fail(test, "took too long")
            else if ($2 != 0 && !failures) fail(test, "exit status " $2 " without a failure")
            else if (!lines)               fail(test, "printed no result")
        }
        /Kernel panic|Oops:|BUG: |general protection|Unable to handle kernel|Internal error:/ {
            if (!/^(PASS|FAIL|SKIP) / && !complained++) fail(test ? test : "boot", $0)
        }
        /^@end$/                 { ended = 1 }
        END {
            if (!ended)
                fail(test ? test : "boot", "the guest did not come to its end (see " log_name ")")
            else if (ran != wanted)
                fail("all tests", ran " of " wanted " ran")
            exit failed
        }' "$log"
    verdict=$?
    grep -q '^@end$' "$log" || tail -n 40 "$log" | sed 's/^/    /'
    return $verdict
}

describe
command -v $emulator >/dev/null || cannot "$emulator is not installed"
qemu=$($emulator --version | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p')
[ "$qemu" -ge $least_qemu ] || cannot "$emulator is of QEMU $qemu, and this kernel needs $least_qemu or newer"
command -v cpio >/dev/null || cannot "cpio is not installed"
why=$(sh scripts/kernels.sh "$kernel" 2>&1) || cannot "$(echo "$why" | tail -n 1)"

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
# The reader may end first, and the shell reports each program that is killed.
trap 'exit 1' HUP INT TERM PIPE
root=$scratch/root
mkdir -p "$root" "$(dirname "$log")"
find_programs
if [ $alone = yes ]; then
    fill_root_alone || exit 1
else
    fill_root "$@" || exit 1
fi
[ ! "$under" ] || cp "$under" "$scratch/initramfs" || exit 1
(cd "$root" && find . | cpio -o -H newc --quiet -R 0:0) >>"$scratch/initramfs" || exit 1

boot
if [ $once = no ] && ! grep -q '^@init ' "$log"; then
    echo "guest-$name: never reached /init; trying once more" >&2
    boot
fi
[ ! "$image" ] || grep -q '^@init ' "$log" ||
    echo "guest-$name: what an image must have in it to get there is in src/README.md" >&2
judge $#
