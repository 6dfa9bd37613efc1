#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Does guest.sh notice what goes wrong in a guest? Each fault that a test or a kernel can have is
# provoked, and must be reported as a failure.

cd "$(dirname "$0")/../.." || exit 1
faults=build/test/faults
mkdir -p $faults || exit 1

# fault NAME: makes a test, whose text is on stdin
fault()
{
    cat >"$faults/$1.sh"
}

# expect NAME EXTENDED-REGEX
expect()
{
    if grep -qE -e "$2" "$faults/result"; then
        echo "PASS harness: $1"
    else
        echo "FAIL harness: $1: no line like $2"
        sed 's/^/    /' "$faults/result"
    fi
}

fault passes <<'END'
echo "PASS fine"
END
fault fails <<'END'
echo "FAIL wrong: because"
END
fault skips <<'END'
echo "SKIP absent: not here"
END
fault silent <<'END'
true
END
fault dies <<'END'
echo "PASS at first"
exit 3
END
fault hangs <<'END'
echo "PASS at first"
sleep 1000
END
fault complains <<'END'
echo "PASS the kernel is warned"
echo "<4>WARNING: CPU: 0 PID: 1 at nowhere" >/dev/kmsg
END
fault panics <<'END'
echo "PASS the last word"
echo c >/proc/sysrq-trigger
END

sh scripts/guest.sh --name faults --test-timeout 5 --timeout 100 --log $faults/serial.log 6.12 -- \
    $faults/passes.sh $faults/fails.sh $faults/skips.sh $faults/silent.sh $faults/dies.sh \
    $faults/hangs.sh $faults/complains.sh $faults/panics.sh >$faults/result 2>&1
status=$?
if [ $status = 77 ]; then
    cat $faults/result
    exit 77
fi
expect "PASS is passed on" '^PASS guest-faults: fine$'
expect "FAIL is passed on" '^FAIL guest-faults: wrong: because$'
expect "SKIP is passed on" '^SKIP guest-faults: absent: not here$'
expect "a silent test fails" '^FAIL guest-faults: .*/silent.sh: printed no result$'
expect "an early end fails" '^FAIL guest-faults: .*/dies.sh: exit status 3'
expect "a test that hangs fails" '^FAIL guest-faults: .*/hangs.sh: took too long$'
expect "a kernel warning fails" '^FAIL guest-faults: .*/complains.sh: the kernel complained'
expect "a panic fails" '^FAIL guest-faults: .*/panics.sh: .*Kernel panic'
expect "a guest that never ends fails" '^FAIL guest-faults: .*/panics.sh: the guest did not come'
echo "exit $status" >>$faults/result
expect "the exit status says so" '^exit 1$'

sh scripts/guest.sh --name late --timeout 1 --log $faults/late.log 6.12 -- $faults/passes.sh \
    >$faults/result 2>&1
expect "a guest that never starts is tried again" 'never reached /init; trying once more'
expect "and then fails" '^FAIL guest-late: boot: the guest did not come'

# A foreign image: guest.sh boots none of its own kernels, and only busybox comes from one.
fault own <<'END'
echo "PASS release $(uname -r)"
echo "PASS modules $(ls /modules | wc -l)"
END
why=$(sh scripts/kernels.sh 6.1 2>&1) || { echo "SKIP harness: an image: $(echo "$why" | tail -n 1)"; exit; }
image="$faults/a board's"
cp build/kernels/6.1/vmlinuz "$image"
sh scripts/guest.sh --image "$image" --timeout 100 --log $faults/own.log x86-64 -- $faults/own.sh \
    >$faults/result 2>&1
expect "an image is booted, with its file's name" \
    "^PASS guest-a_board_s: release $(sed 's/[+.]/[&]/g' build/kernels/6.1/version)\$"
expect "without other kernels' modules" '^PASS guest-a_board_s: modules 0$'

echo nothing >"$image"
sh scripts/guest.sh --image "$image" --once --timeout 100 --log $faults/own.log x86-64 -- $faults/own.sh \
    >$faults/result 2>&1
expect "a file that is not an image fails" '^FAIL guest-a_board_s: boot: the guest did not come'
expect "and it says where to look" 'what an image must have .* is in src/README[.]md$'

rm "$image"
sh scripts/guest.sh --image "$image" x86-64 -- $faults/own.sh >$faults/result 2>&1
echo "exit $?" >>$faults/result
expect "a missing image is named" "^guest[.]sh: $image: there is no such file, or it may not be read\$"
expect "and no test is run" '^exit 2$'
