#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What scripts/push.sh sends arrives at a store that checks the documented request, each once and in order, by
# each of the programs that can send; nothing is lost while the store refuses, hangs, disconnects or is down.
. "${0%/*}/../live/lib.sh"

have_root || skip_all "tracing needs root"
command -v node >/dev/null || skip_all "there is no node, which plays the store (nodejs)"

here=$(cd "${0%/*}/../.." && pwd)
spool=$scratch/spool
store=$scratch/store
mkdir -m 755 "$spool" "$store" "$scratch/bin"

# store_begins MODE, store_ends
store_begins()
{
    echo "$1" >"$store/mode"
    : >"$store/log"
    node "$here/tests/readers/store.mjs" "$store" >>"$store/log" &
    server=$!
    until [ -s "$store/log" ]; do sleep 0.1; done
    url=http://127.0.0.1:$(head -n 1 "$store/log")
}

store_ends()
{
    kill $server
    wait $server 2>/dev/null
}

# only PROGRAM...: a PATH that has these beside the shell's usual ones, and no other that sends
only()
{
    rm -rf "$scratch/bin"
    mkdir "$scratch/bin"
    for program in basename cat comm cp date flock grep gzip head hostname mkdir mktemp mv rm sed sh sleep sort stat \
        tail timeout tr wc "$@"; do
        ln -s "$(command -v "$program")" "$scratch/bin/$program"
    done
}

# push ARG..., and the same in the background, as $pusher
push()
{
    PATH=$scratch/bin sh "$here/scripts/push.sh" --label applet=profile "$@" "$spool" "$url" 2>"$scratch/said"
}

push_on()
{
    : >"$scratch/said"
    (PATH=$scratch/bin exec sh "$here/scripts/push.sh" --label applet=profile "$@" "$spool" "$url") 2>"$scratch/said" &
    pusher=$!
}

# fill N: so many profiles of this machine at least, a tenth of a second each; a busy one may take fewer at a time
fill()
{
    waiting=0
    while [ "$waiting" -lt "$1" ]; do
        "$STACKBOX" profile -F 499 -i 0.1 -D "$(($1 / 10)).$(($1 % 10))" -o "$spool/%t.pb.gz" >/dev/null 2>&1 || return
        waiting=$(left)
    done
    rm -rf "$scratch/kept"
    cp -r "$spool" "$scratch/kept"
}

# arrived: are the store's files, in order, those that were there?
arrived()
{
    number=0
    for file in "$scratch"/kept/*.pb.gz; do
        number=$((number + 1))
        zcat "$file" >"$scratch/one"
        zcat "$store/$number.pb.gz" 2>&1 | cmp -s "$scratch/one" - || { echo "file $number differs"; return; }
    done
    [ -e "$store/$((number + 1)).pb.gz" ] && echo "one too many" || echo "all $number"
}

left()
{
    find "$spool" -name '*.pb.gz' | wc -l
}

# busybox APPLET: as it is called on boards
with_busybox()
{
    only
    ln -s "$(command -v busybox)" "$scratch/bin/$1"
}

for sender in curl wget nc; do
    if [ $sender = nc ]; then
        command -v busybox >/dev/null || { skip "nc" "there is no busybox"; continue; }
        with_busybox nc
    else
        command -v $sender >/dev/null || { skip "$sender" "it is not installed"; continue; }
        only $sender
    fi
    rm -f "$store"/*.pb.gz
    fill 5
    store_begins ok
    push --once
    is "$sender: all arrive, in order, and are removed" "$? $(arrived) $(left)" "0 all $waiting 0"
    is "$sender: under their name, host and labels" \
        "$(sed 1d "$store/log" | cut -d ' ' -f 1-2 | sort -u)" \
        "200 stackbox.profile{host=$(hostname),applet=profile}"
    store_ends
done

# busybox's wget sends text alone.
if command -v busybox >/dev/null; then
    with_busybox wget
    store_begins ok
    fill 2
    push --once
    is "busybox's wget: what is binary waits" "$? $(left) $(grep -c 'which is binary' "$scratch/said")" "1 $waiting 1"
    rm -f "$spool"/*.pb.gz
    "$STACKBOX" profile -F 499 -D 0.2 -o "$spool/%t.folded" >/dev/null 2>&1
    cp "$spool"/*.folded "$scratch/text"
    push --once
    is "busybox's wget: what is text arrives" "$? $(cmp "$scratch/text" "$store/1.folded" 2>&1)" "0 "
    store_ends
fi
only curl

# By the file that was made: it has the same samples for somebody else's reader.
if command -v go >/dev/null; then
    sums=$(env HOME="$scratch" PPROF_TMPDIR="$scratch" GOTOOLCHAIN=local GOPROXY=off \
        go tool pprof -symbolize=none -raw "$store/1.pb.gz" 2>/dev/null | grep -c '^ *[0-9]')
    [ "$sums" -gt 0 ] && pass "pprof reads what arrived" || fail "pprof reads what arrived" "no sample"
else
    skip "pprof reads what arrived" "there is no go (golang-go)"
fi

# The store is in trouble, then it is well again. Each time all have to arrive.
for trouble in refuse hang break deny; do
    rm -f "$store"/*.pb.gz
    fill 3
    store_begins $trouble
    push_on --timeout 2 --pause 1
    until grep -q 'wait; next try' "$scratch/said" 2>/dev/null; do sleep 0.1; done
    is "$trouble: all wait" "$(left)" "$waiting"
    echo ok >"$store/mode"
    until [ "$(left)" = 0 ]; do sleep 0.2; done
    kill $pusher
    wait $pusher
    is "$trouble: then all arrive" "$(arrived)" "all $waiting"
    store_ends
done

# Nobody is there at all, and --keep takes away what is too much meanwhile: that is counted.
rm -f "$store"/*.pb.gz
fill 6
url=http://127.0.0.1:1
push_on --pause 1
until grep -q 'no answer; [0-9]* profiles wait' "$scratch/said"; do sleep 0.1; done
before=$waiting
"$STACKBOX" profile -F 499 -D 0.1 -o "$spool/%t.pb.gz" --keep 4 >/dev/null 2>&1
until grep -q 'deleted before they could be sent' "$scratch/said"; do sleep 0.2; done
kill $pusher
wait $pusher
is "away: what --keep took is counted" "$(sed -n 's/.* \([0-9]*\) profiles were deleted.*/\1/p' "$scratch/said")" \
    "$((before - 3))"
rm -f "$spool"/*.pb.gz

# What is never taken does not keep the others waiting.
rm -f "$store"/*.pb.gz
fill 2
store_begins bad
push --once
is "never taken: set aside" "$? $(ls "$spool/refused" | wc -l) $(ls "$spool"/*.pb.gz 2>/dev/null | wc -l)" "1 $waiting 0"
rm -rf "$spool/refused"
store_ends

# The token is in no argument and no environment, and without it nothing is taken.
rm -f "$store"/*.pb.gz
fill 2
echo let.me-in >"$scratch/token"
store_begins deny
push --once
is "without the token" "$? $(left)" "1 $waiting"
push --once --token "$scratch/token"
is "with the token" "$? $(left)" "0 0"
if command -v busybox >/dev/null; then
    fill 2
    with_busybox nc
    push --once --token "$scratch/token"
    is "with the token, by nc" "$? $(left)" "0 0"
fi
store_ends
command -v busybox >/dev/null || skip_all "there is no busybox"
with_busybox wget
push --once --token "$scratch/token"
is "busybox's wget would show the token: refused" "$? $(grep -c 'all users here can read' "$scratch/said")" "2 1"
url=https://127.0.0.1:1
push --once
is "and verifies nobody: refused" "$? $(grep -c 'verifies no certificate' "$scratch/said")" "2 1"
only curl

# Two at a time would send twice.
flock "$spool/.push.lock" sleep 5 &
holder=$!
until ! flock -n "$spool/.push.lock" true; do sleep 0.1; done
push --once
is "one at a time" "$? $(grep -c 'another push.sh' "$scratch/said")" "1 1"
kill $holder
