#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# recordings.sh KERNEL...: symbolizes here what was recorded in a guest of each kernel (scripts/guest.sh), with
# that machine's files. Text, folded and flat must be the same as there, byte by byte.

cd "$(dirname "$0")/../.." || exit 1
stackbox=${STACKBOX:-$PWD/stackbox}
ran=no

# is NAME ACTUAL EXPECTED
is()
{
    if [ "$2" = "$3" ]; then
        echo "PASS recordings: $kernel: $1"
    else
        echo "FAIL recordings: $kernel: $1: got \"$2\", should be \"$3\""
    fi
}

# files_of LOG: writes what recording.sh printed there to $files. The kernel may have printed a line in
# between.
files_of()
{
    awk -v to="$files/" '/^@file / { name = to $2 ".base64"; next }
        /^@/ { name = ""; next }
        name && /^[A-Za-z0-9+\/]+=*$/ { print >name }' "$1"
    for file in "$files"/*.base64; do
        base64 -d "$file" >"${file%.base64}" || return 1
    done
}

for kernel; do
    files=build/test/recordings-$kernel
    rm -rf "$files" && mkdir -p "$files/root" || exit 1
    env -u STACKBOX -u WORKLOADS sh scripts/guest.sh --name "$kernel-recordings" --timeout 600 \
        --log "$files/serial.log" "$kernel" -- tests/guest/recording.sh
    [ $? != 77 ] || continue
    ran=yes
    files_of "$files/serial.log" \
        || echo "FAIL recordings: $kernel: the files from the serial line are incomplete"
    case $kernel in
    arm64-*) arch=aarch64 ;;
    armhf-*) arch=armv7 ;;
    loong64-*) arch=loongarch64 ;;
    *)       arch=${kernel%%-*} ;;
    esac
    cp -r "build/cross/$arch/workloads" "$files/root/workloads" # no link: files outside --symfs are never used
    for run in events function returns samples waits; do
        for format in text folded flat; do
            there=$files/$run.$format
            [ $format != text ] || there=$files/$run.txt
            "$stackbox" report --symfs "$files/root" --format $format "$files/$run.sbx" \
                >"$files/here" 2>"$files/here.err"
            is "$run: $format" "$? $(cmp "$files/here" "$there" 2>&1)" "0 "
        done
    done
    is "each call has its chain" "$(awk '{ sum += $NF } END { print sum }' "$files/events.folded")" 30
    is "no build id is missing" "$("$stackbox" report --missing --symfs "$files/root" "$files/events.sbx")" ""
    # Without these files, functions have no names, and everything else is the same.
    is "without its files: all calls are counted" "$("$stackbox" report -f "$files/events.sbx" 2>/dev/null |
        awk '{ sum += $NF } END { print sum }')" 30
    is "without its files: functions have no names" "$("$stackbox" report -f "$files/function.sbx" 2>/dev/null |
        grep -c ';target ')" 0
done
[ $ran = yes ] || exit 77
