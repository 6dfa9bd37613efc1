#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# src/base/format.c implements a part of printf(3), and compilers only warn about what printf(3) itself lacks:
# no format in the sources uses a conversion, a flag or a size that ours lacks.
. "${0%/*}/../live/lib.sh"

# lacking FILE...: strings with one that it lacks. Apart from those that it has, there are %n and %t in file
# names, and percent signs.
lacking()
{
    grep -hoE '"([^"\\]|\\.)*"' "$@" | grep % |
        sed -E 's/%%//g; s/%[-0+]*(\*|[0-9]*)((l|ll|z)?[dux]|[pc]|(\.(\*|[0-9]*))?[sfg])//g; s/[0-9]% //g' |
        grep -E "%[-+ #0'I]*[0-9*.]*[hlqLjzt]*[diouxXeEfFgGaAcCsSpm]"
    sed -n 's/.*\(PRI[a-zA-Z]*[0-9A-Z]*\).*/\1/p' "$@" | grep -E '^PRI[a-zA-Z]+(8|16|32|64|MAX|PTR)$' |
        grep -v '^PRI[dux]64$'
}

# Each that it lacks is found, and none that it has.
for conversion in %o %e %X %i %a %hd %hhu %jd %td %Lf %.3d %.8x '% d' %#x "%'d" %m %lc %5.2u '0% x: %G'; do
    echo "say(\"100%% of %d: $conversion\")" >"$scratch/one.c"
    [ "$(lacking "$scratch/one.c")" ] || fail "found" "$conversion"
done
echo 'printf("%" PRIo64, x)' >"$scratch/one.c"
is "a macro with one is found" "$(lacking "$scratch/one.c")" PRIo64
echo 'say("%s %-5s %.*s %*d %05llu %+.1f %g %c %p %zu 5% of it, 100%%, %n.txt %t" PRIu64)' >"$scratch/one.c"
is "those that it has are not found" "$(lacking "$scratch/one.c")" ""
is "the sources use only those that it has" "$(lacking src/*.[ch] src/*/*.[ch] insns/*.[ch])" ""
