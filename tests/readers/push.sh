#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# What scripts/push.sh sends arrives at a store that checks the documented request, each once and in order, by
# each of the programs that can send; nothing is lost while the store refuses, hangs, disconnects or is down.
. "${0%/*}/../live/lib.sh"

have_root || skip_all "tracing needs root"
command -v node >/dev/null || skip_all "node, which plays the store, is not installed (nodejs)"

here=$(cd "${0%/*}/../.." && pwd)
spool=$scratch/spool
store=$scratch/store
mkdir -m 755 "$spool" "$store" "$scratch/bin"

# store_begins MODE, store_ends: start and stop the store
store_begins()
{
    echo "$1" >"$store/mode"
    : >"$store/log"
    node "$here/tests/readers/store.mjs" "$store" >>"$store/log" &
    server=$!
    wait_until 20 test -s "$store/log"
    url=http://127.0.0.1:$(head -n 1 "$store/log")
}

store_ends()
{
    kill $server
    wait $server 2>/dev/null
}

# only PROGRAM...: a PATH with these, the usual commands, and no other program that can send
only()
{
    rm -rf "$scratch/bin"
    mkdir "$scratch/bin"
    for program in basename cat comm cp date flock grep gzip head hostname mkdir mktemp mv rm sed sh sleep sort stat \
        tail timeout tr wc "$@"; do
        ln -s "$(command -v "$program")" "$scratch/bin/$program"
    done
}

# push ARG...; start_push: the same in the background, as $pusher
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

# fill N: writes at least N profiles of this machine, a tenth of a second each; a busy machine may write fewer
# at a time
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

# arrived: are the store's files those that were there, in order?
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
all_sent()
{
    [ "$(left)" = 0 ]
}

# with_busybox APPLET: makes it the only sender, under the name that it has on boards
with_busybox()
{
    only
    ln -s "$(command -v busybox)" "$scratch/bin/$1"
}

# with SENDER: the same with curl, wget or nc; fails if it is not installed
with()
{
    case $1 in
    nc) command -v busybox >/dev/null && with_busybox nc ;;
    *)  command -v "$1" >/dev/null && only "$1" ;;
    esac
}

any=
for sender in curl wget nc; do
    with $sender || { skip "$sender" "it is not installed"; continue; }
    any=${any:-$sender}
    rm -f "$store"/*.pb.gz
    fill 5
    store_begins ok
    push --once
    is "$sender: all files arrive in order, and are removed" "$? $(arrived) $(left)" "0 all $waiting 0"
    is "$sender: with their name, host and labels" \
        "$(sed 1d "$store/log" | cut -d ' ' -f 1-2 | sort -u)" \
        "200 stackbox.profile{host=$(hostname),applet=profile}"
    store_ends
done
[ "$any" ] || skip_all "there is nothing to send with: curl, wget or busybox"

# busybox's wget can only send text.
if command -v busybox >/dev/null; then
    with_busybox wget
    store_begins ok
    fill 2
    push --once
    is "busybox's wget: binary files wait" \
        "$? $(left) $(grep -c 'which is binary' "$scratch/said")" "1 $waiting 1"
    rm -f "$spool"/*.pb.gz
    "$STACKBOX" profile -F 499 -D 0.2 -o "$spool/%t.folded" >/dev/null 2>&1
    cp "$spool"/*.folded "$scratch/text"
    push --once
    is "busybox's wget: text files arrive" "$? $(cmp "$scratch/text" "$store/1.folded" 2>&1)" "0 "
    store_ends
fi
with $any

# Compared with the original file: it has the same samples in another reader.
if command -v go >/dev/null; then
    sums=$(env HOME="$scratch" PPROF_TMPDIR="$scratch" GOTOOLCHAIN=local GOPROXY=off \
        go tool pprof -symbolize=none -raw "$store/1.pb.gz" 2>/dev/null | grep -c '^ *[0-9]')
    [ "$sums" -gt 0 ] && pass "pprof reads what arrived" || fail "pprof reads what arrived" "no sample"
else
    skip "pprof reads what arrived" "go is not installed (golang-go)"
fi

# The store has trouble, then recovers. Each time, all files must arrive.
for trouble in refuse hang break deny; do
    rm -f "$store"/*.pb.gz
    fill 3
    store_begins $trouble
    push_on --timeout 2 --pause 1
    wait_until 60 grep -q 'wait; next try' "$scratch/said"
    is "$trouble: all files wait" "$(left)" "$waiting"
    echo ok >"$store/mode"
    wait_until 60 all_sent
    kill $pusher
    wait $pusher
    is "$trouble: then all files arrive" "$(arrived)" "all $waiting"
    store_ends
done

# While the store is down, --keep deletes the excess profiles, which push.sh counts.
rm -f "$store"/*.pb.gz
fill 6
url=http://127.0.0.1:1
push_on --pause 1
wait_until 60 grep -q 'no answer; [0-9]* profiles wait' "$scratch/said"
before=$waiting
"$STACKBOX" profile -F 499 -D 0.1 -o "$spool/%t.pb.gz" --keep 4 >/dev/null 2>&1
wait_until 60 grep -q 'deleted before they could be sent' "$scratch/said"
kill $pusher
wait $pusher
is "store down: files deleted by --keep are counted" \
    "$(sed -n 's/.* \([0-9]*\) profiles were deleted.*/\1/p' "$scratch/said")" \
    "$((before - 3))"
rm -f "$spool"/*.pb.gz

# Files that are never accepted do not hold up the others.
rm -f "$store"/*.pb.gz
fill 2
store_begins bad
push --once
is "files that are never accepted are set aside" \
    "$? $(ls "$spool/refused" | wc -l) $(ls "$spool"/*.pb.gz 2>/dev/null | wc -l)" "1 $waiting 0"
rm -rf "$spool/refused"
store_ends

# The token is in no argument and no environment variable, and without it nothing is accepted.
rm -f "$store"/*.pb.gz
fill 2
echo let.me-in >"$scratch/token"
store_begins deny
push --once
is "without the token nothing is accepted" "$? $(left)" "1 $waiting"
push --once --token "$scratch/token"
is "with the token all files arrive" "$? $(left)" "0 0"
if command -v busybox >/dev/null; then
    fill 2
    with_busybox nc
    push --once --token "$scratch/token"
    is "with the token, by nc, all files arrive" "$? $(left)" "0 0"
fi
store_ends
need busybox
with_busybox wget
push --once --token "$scratch/token"
is "busybox's wget would expose the token: refused" \
    "$? $(grep -c 'all users here can read' "$scratch/said")" "2 1"
url=https://127.0.0.1:1
push --once
is "and verifies no certificate: refused" "$? $(grep -c 'verifies no certificate' "$scratch/said")" "2 1"
with $any

# Two at the same time would send everything twice.
flock "$spool/.push.lock" sleep 5 &
holder=$!
until ! flock -n "$spool/.push.lock" true; do sleep 0.1; done
push --once
is "a second push.sh is refused" "$? $(grep -c 'another push.sh' "$scratch/said")" "1 1"
kill $holder
