#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# Flame graphs in a real browser, headless Chromium: what is drawn, what clicks and keys do, and whether
# it is readable. browser.mjs looks, truth.mjs knows what must be there.
#
#     browser.sh [CHECK...]      all, or these functions of *.mjs: browser.sh zooms searches
#     KEEP=DIRECTORY             keeps the flame graphs there

# shellcheck source=tests/live/lib.sh
. "${0%/*}/../live/lib.sh"

readers=${0%/*}
tab=$(printf '\t')

# picture NAME FOLDED OPTION...: draws $scratch/NAME.svg from $scratch/FOLDED.folded
picture()
{
    name=$1 folded=$2
    shift 2
    "$STACKBOX" flamegraph "$@" "$scratch/$folded.folded" >"$scratch/$name.svg" 2>"$scratch/err"
    status=$?
}

need node chromium
[ "$(node -p 'process.versions.node.split(".")[0] >= 18')" = true ] ||
    skip_all "node is older than version 18: $(node --version)"

node "$readers/truth.mjs" "$scratch" || exit 1
for name in known other many; do
    picture $name $name
    is "$name: a flame graph is drawn" "$status" 0
done
picture empty empty
is "without input, an empty flame graph is drawn" "$status" 1
picture inverted known --inverted
picture diff after --diff "$scratch/before.folded"
# In folded text, names contain no ;
"$WORKLOADS/picture" --separator '|' "$scratch/semicolons.folded" >"$scratch/semicolons.svg"
# The same report as a flame graph and as text. Without privileges there is none.
if have_root && { have_kprobes || have_syscall_tracepoints; }; then
    choose_event
    run_stackbox stackcount -d -a -o "$scratch/counted.svg" -o "$scratch/counted.folded" \
        "$EVENT" -- "$WORKLOADS/calls" -n 500
    is "stackcount writes both" "$status" 0
    run_stackbox offwaketime -d -a -o "$scratch/chained.svg" -o "$scratch/chained.folded" -- \
        sh -c 'for i in 1 2 3 4 5; do { sleep 0.02; echo; } | cat; done'
    is "offwaketime writes both" "$status" 0
else
    skip "flame graphs of reports" "this needs root, and kprobes or system call tracepoints"
fi
[ -z "${KEEP:-}" ] || cp "$scratch"/*.svg "$KEEP"

timeout -k 5 600 node "$readers/browser.mjs" "$scratch" "$@" >"$scratch/results" 2>"$scratch/err"
is "the browser and its driver end well" "$? $(tail -n 5 "$scratch/err")" "0 "
while IFS=' ' read -r kind text; do
    case "$kind $text" in
    "ok "*) pass "$text" ;;
    "not ok "*) text=${text#ok } && fail "${text%%"$tab"*}" "${text#*"$tab"}" ;;
    "info "*) echo "$text" ;;
    esac
done <"$scratch/results"
