# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Places that stackbox may be copied to. Read after lib.sh. tests/workloads/carried.c has the right
# answer of each applet; this file makes the places.

kprobes=
have_kprobes && kprobes=-k

# taken NAME: counts the results in $scratch/verdicts as this test's
taken()
{
    if grep -q '^PASS ' "$scratch/verdicts"; then
        cat "$scratch/verdicts"
    else
        fail "$1" "no applet was right: $(head -c 600 "$scratch/verdicts" | tr '\n' '|')"
        return
    fi
    test_results=$((test_results + $(grep -c '^[PF]A[SI][SL] ' "$scratch/verdicts")))
    test_failures=$((test_failures + $(grep -c '^FAIL ' "$scratch/verdicts")))
}

# carried COMMAND...: runs the workload `carried`, wherever it is
carried()
{
    "$@" </dev/null >"$scratch/verdicts" 2>&1
    taken "$*"
}

# here ARG...: runs `carried` here, with the original stackbox and programs
here()
{
    carried "$WORKLOADS/carried" ${kprobes:+-k} -s "$STACKBOX" -n "$WORKLOADS/known" "$@"
}

# make_root DIRECTORY: puts the binary, what it traces, and its judge there, and nothing else
make_root()
{
    mkdir -p "$1/proc" && cp "$STACKBOX" "$1/stackbox" && chmod 755 "$1" "$1/stackbox" &&
        cp "$WORKLOADS/known" "$WORKLOADS/carried" "$1/"
}
