#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# push.sh [OPTION...] SPOOL URL
#
# Sends the profiles that `stackbox profile -i 60 -o 'SPOOL/%t.pb.gz' --keep 1000` writes to a profile store:
# each *.pb.gz and *.folded in SPOOL, oldest first, as a POST to URL/ingest, as Pyroscope documents it. A file is
# removed only once the store has accepted it: after a crash in between it is sent twice. Whatever fails is tried
# again, after growing pauses; what the store will never accept (400, 413, 415, 422) is moved to SPOOL/refused.
# Only one push.sh at a time works on a SPOOL.
#
#   --once             send what is there now, then exit
#   --name NAME        the profile's name in the store (stackbox.profile)
#   --label KEY=VALUE  one more label besides host=; may be repeated
#   --token FILE       send the first line of FILE as a bearer token
#   --tenant ID        X-Scope-OrgID, for a store with several tenants
#   --insecure         https without verifying the certificate, which busybox's wget cannot do
#   --timeout S        for each file (60)
#   --pause S          between two looks at SPOOL (10), and after the first failure; at most 300 after more
#
# It sends with curl, else GNU wget, else nc (http only), else busybox's wget, which cannot send binary files: only
# .folded. stackbox itself opens no connections. Exit status: 0 all was sent (--once), 1 something was not, 2 wrong
# usage. Messages go to stderr.

set -u
umask 077
export LC_ALL=C

once=no name=stackbox.profile labels= token= tenant= insecure=no timeout=60 pause=10 longest=300

say()
{
    echo "push.sh: $*" >&2
}

refuse()
{
    say "$*"
    exit 2
}

# is_word TEXT: may it be in a label unescaped?
is_word()
{
    case $1 in
    '' | *[!A-Za-z0-9_.:/-]*) return 1 ;;
    esac
}

is_seconds()
{
    case $1 in
    '' | *[!0-9]* | 0*) refuse "$2: \"$1\" is not a number of seconds" ;;
    esac
}

add_label()
{
    is_word "${1%%=*}" && is_word "${1#*=}" && [ "$1" != "${1#*=}" ] ||
        refuse "--label: \"$1\" is not KEY=VALUE of letters, digits and _ . : / -"
    labels=$labels,$1
}

while [ $# -gt 0 ]; do
    case $1 in
    --once)     once=yes ;;
    --insecure) insecure=yes ;;
    --name | --label | --token | --tenant | --timeout | --pause)
        [ $# -gt 1 ] || refuse "$1: an argument is missing"
        case $1 in
        --name)    is_word "$2" || refuse "--name: \"$2\" has characters other than letters, digits and _ . : / -"
                   name=$2 ;;
        --label)   add_label "$2" ;;
        --token)   token=$2 ;;
        --tenant)  is_word "$2" || refuse "--tenant: \"$2\" has characters other than letters, digits and _ . : / -"
                   tenant=$2 ;;
        --timeout) is_seconds "$2" "$1"; timeout=$2 ;;
        --pause)   is_seconds "$2" "$1"; pause=$2 ;;
        esac
        shift ;;
    --help)     sed -n '/^# push.sh/,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
    --)         shift; break ;;
    -*)         refuse "$1: no such option (see --help)" ;;
    *)          break ;;
    esac
    shift
done
[ $# = 2 ] || refuse "usage: push.sh [OPTION...] SPOOL URL"
spool=$1 url=${2%/}
case $spool in
/*) ;;
*) spool=./$spool ;;
esac
[ -d "$spool" ] || refuse "$spool: no such directory"
host=$(hostname 2>/dev/null || cat /proc/sys/kernel/hostname)
is_word "$host" || host=unknown

# ---- Sending ----

choose_sender()
{
    case $url in
    http://* | https://*) ;;
    *) refuse "$url: begins with neither http:// nor https://" ;;
    esac
    sender=none
    if command -v curl >/dev/null; then
        sender=curl
    elif wget --version 2>/dev/null | grep -q 'GNU Wget'; then
        sender=wget
    elif [ "${url#http:}" != "$url" ] && command -v nc >/dev/null; then
        sender=nc
    elif command -v wget >/dev/null; then
        sender=busybox
    fi
    [ $sender != none ] || refuse "nothing to send with: curl, wget and nc are missing: install curl"
    command -v timeout >/dev/null || refuse "the timeout command is missing: a store that hangs would hang this"
    [ $sender = busybox ] || return 0
    [ "${url#http:}" != "$url" ] || [ $insecure = yes ] ||
        refuse "busybox's wget verifies no certificate: anybody between here and $url could read what is sent; " \
"install curl, or say --insecure"
    [ -z "$token" ] ||
        refuse "--token: busybox's wget takes headers as arguments, which all users here can read; install curl"
}

# prepare: puts headers into a file, since everybody can read arguments
prepare()
{
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM
    boundary=stackbox-$$-$(date +%s)
    : >"$work/curl" && : >"$work/wgetrc"
    if [ "$token" ]; then
        IFS= read -r secret <"$token" || [ "${secret:-}" ] || refuse "--token: $token cannot be read, or is empty"
        case $secret in
        *[!A-Za-z0-9._~+/=:-]*) refuse "--token: the first line of $token is not a token" ;;
        esac
        echo "header = \"Authorization: Bearer $secret\"" >>"$work/curl"
        echo "header = Authorization: Bearer $secret" >>"$work/wgetrc"
        secret=
    fi
    [ -z "$tenant" ] || echo "header = \"X-Scope-OrgID: $tenant\"" >>"$work/curl"
    [ $insecure = no ] || echo insecure >>"$work/curl"
}

# by_nc URL: nc gets the whole request from a file, so the token is in no argument
by_nc()
{
    rest=${1#http://}
    place=${rest%%/*}
    port=${place##*:}
    [ "$port" != "$place" ] || port=80
    {
        printf 'POST /%s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s\r\n' "${rest#*/}" "$place" "$type"
        [ -z "$token" ] || sed 's/^header = \(.*\)/\1\r/' "$work/wgetrc"
        [ -z "$tenant" ] || printf 'X-Scope-OrgID: %s\r\n' "$tenant"
        printf 'Content-Length: %s\r\n\r\n' "$(wc -c <"$work/body" | tr -d ' ')"
        cat "$work/body"
    } >"$work/request"
    timeout "$timeout" nc "${place%:*}" "$port" <"$work/request" 2>"$work/said" |
        sed -n '1s,^HTTP/[0-9.]* \([0-9]*\).*,\1,p'
}

# post URL: sends $work/body of that $type. Prints the status of the answer, 000 if there was none.
post()
{
    case $sender in
    nc) by_nc "$1" ;;
    curl)
        curl -q -s -o /dev/null -w '%{http_code}' --max-time "$timeout" -K "$work/curl" -H "$type" -H Expect: \
            --data-binary "@$work/body" "$1" 2>"$work/said" || : ;;
    wget)
        # shellcheck disable=SC2046 # none or one word each
        timeout "$timeout" wget --config="$work/wgetrc" -S -O /dev/null --tries=1 --header "$type" \
            --post-file "$work/body" $([ -z "$tenant" ] || echo "--header=X-Scope-OrgID:$tenant") \
            $([ $insecure = no ] || echo --no-check-certificate) "$1" 2>"$work/said"
        sed -n 's,^ *HTTP/[0-9.]* \([0-9]*\).*,\1,p' "$work/said" | tail -n 1 ;;
    busybox)
        # shellcheck disable=SC2046
        timeout "$timeout" wget -S -O /dev/null --header "$type" --post-file "$work/body" \
            $([ -z "$tenant" ] || echo "--header X-Scope-OrgID:$tenant") \
            $([ $insecure = no ] || echo --no-check-certificate) "$1" 2>"$work/said"
        sed -n 's,.*HTTP/[0-9.]* \([0-9]*\).*,\1,p' "$work/said" | tail -n 1 ;;
    esac
}

# ---- One file ----

# started FILE: when its report began, by its name, or else when it was written
started()
{
    when=$(basename "$1" | sed -n \
        's/^.*\([0-9]\{4\}\)\([0-9][0-9]\)\([0-9][0-9]\)-\([0-9][0-9]\)\([0-9][0-9]\)\([0-9][0-9]\)[.][0-9]\{3\}.*$/\1-\2-\3 \4:\5:\6/p')
    [ "$when" ] && date -d "$when" +%s 2>/dev/null || stat -c %Y "$1"
}

# stackbox writes gzip's format without compression. Compressed, it takes a third of the bytes.
small()
{
    if command -v gzip >/dev/null && gzip -dc <"$1" 2>/dev/null >"$work/plain"; then
        gzip -9c <"$work/plain"
    else
        cat "$1"
    fi
}

# make_body FILE: writes $work/body; sets $format and $type
make_body()
{
    case $1 in
    *.folded)
        format=folded type='Content-Type: text/plain'
        cat "$1" >"$work/body"
        return ;;
    esac
    format=pprof type="Content-Type: multipart/form-data; boundary=$boundary"
    {
        printf -- '--%s\r\n' "$boundary"
        printf 'Content-Disposition: form-data; name="profile"; filename="profile.pprof"\r\n'
        printf 'Content-Type: application/octet-stream\r\n\r\n'
        small "$1" || return 1
        printf '\r\n--%s--\r\n' "$boundary"
    } >"$work/body"
}

# send FILE: 0 accepted, 1 to be tried again, 2 never accepted, 3 gone
send()
{
    if [ $sender = busybox ] && [ "${1%.folded}" = "$1" ]; then
        answer="busybox's wget cannot send $(basename "$1"), which is binary: install curl, or write %t.folded"
        return 1
    fi
    from=$(started "$1" 2>/dev/null) && until=$(stat -c %Y "$1" 2>/dev/null) || return 3
    [ "$until" -gt "$from" ] || until=$((from + 1))
    make_body "$1" 2>"$work/said" || { [ -e "$1" ] && answer='a file cannot be read' && return 1; return 3; }
    # Percent-encodes { } = and , for the URL.
    query="name=$name%7Bhost%3D$host$(echo "$labels" | sed 's/=/%3D/g; s/,/%2C/g')%7D"
    status=$(post "$url/ingest?$query&from=$from&until=$until&format=$format&spyName=stackbox")
    case $status in
    2??)             return 0 ;;
    400|413|415|422) answer="the store says $status"; return 2 ;;
    '' | 000)        answer="no answer" ;;
    *)               answer="the store says $status" ;;
    esac
    return 1
}

# ---- All of them ----

sent=0 refused=0 gone=0

list()
{
    for file in "$spool"/*.pb.gz "$spool"/*.folded; do
        [ -f "$file" ] && ! [ -h "$file" ] && basename "$file"
    done | sort >"$work/now"
    return 0
}

# Counts the files that waited and are gone, although the store did not accept them.
count_gone()
{
    [ -e "$work/waiting" ] || return 0
    lost=$(comm -23 "$work/waiting" "$work/now" 2>/dev/null | wc -l)
    [ "$lost" -eq 0 ] && return
    gone=$((gone + lost))
    say "$lost profiles were deleted before they could be sent ($gone in all): the spool is too small for such a long failure"
}

# forget NAME: removes it from the list of files that wait
forget()
{
    grep -vxF -- "$1" "$work/waiting" >"$work/rest"
    mv "$work/rest" "$work/waiting"
}

# pass: sends what is there, in order. 1: something has to wait
pass()
{
    list
    count_gone
    cp "$work/now" "$work/waiting"
    while IFS= read -r file <&3; do
        send "$spool/$file"
        case $? in
        0)  rm -f -- "$spool/$file" && sent=$((sent + 1))
            forget "$file" ;;
        1)  return 1 ;;
        2)  mkdir -p "$spool/refused" && mv -- "$spool/$file" "$spool/refused/$file" || return 1
            refused=$((refused + 1))
            say "$answer to $file: it is in $spool/refused now"
            forget "$file" ;;
        3)  ;;
        esac
    done 3<"$work/now"
}

choose_sender
prepare
command -v flock >/dev/null || refuse "the flock command is missing: without it, two at once would send everything twice"
exec 9>"$spool/.push.lock" || exit 1
if ! flock -n 9; then
    say "another push.sh is already running on $spool"
    exit 1
fi

next=$pause
while :; do
    rest=$pause
    if pass; then
        next=$pause
    else
        rest=$next
        next=$((next * 2 < longest ? next * 2 : longest))
        say "$answer; $(wc -l <"$work/waiting") profiles wait; next try in $rest s"
    fi
    [ $once = no ] || break
    sleep "$rest" 9>&- &
    wait $!
done
list
say "$sent sent, $refused refused, $gone deleted before they could be sent, $(wc -l <"$work/now") left"
[ $refused = 0 ] && [ $gone = 0 ] && ! [ -s "$work/now" ]
