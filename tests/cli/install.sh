#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# stackbox --install and scripts/install.sh: the files that they make, and those that they spare.

. "${0%/*}/../live/lib.sh"

install_sh=$(cd "${0%/*}/../../scripts" && pwd)/install.sh

names=$("$STACKBOX" | cut -d ' ' -f 1 | LC_ALL=C sort)
between "there are applets" "$(echo "$names" | grep -c .)" 6 20

# links_in DIR: its links and their targets
links_in()
{
    for link in "$1"/*; do
        [ -h "$link" ] && printf '%s -> %s ' "${link##*/}" "$(readlink "$link")"
    done
}

# links_to TARGET [NAME OTHER]: what links_in prints if each applet has a link to TARGET, and NAME one to
# OTHER
links_to()
{
    for name in $names; do
        if [ "$name" = "${2:-}" ]; then
            printf '%s -> %s ' "$name" "$3"
        else
            printf '%s -> %s ' "$name" "$1"
        fi
    done
}

# ---- stackbox --install

mkdir "$scratch/links"
"$STACKBOX" --install "$scratch/links" >"$scratch/out" 2>&1
is "links: it succeeds, silently" "$? $(cat "$scratch/out")" "0 "
is "links: they lead to the binary's path" "$(links_in "$scratch/links")" \
    "$(links_to "$(readlink -f "$STACKBOX")")"
"$scratch/links/stackcount" -h >"$scratch/out"
is "links: they run their applet" "$?" 0
"$STACKBOX" --install "$scratch/links" >"$scratch/out" 2>&1
is "links: making them again succeeds" "$? $(cat "$scratch/out")" "0 "

mkdir "$scratch/beside"
cp "$STACKBOX" "$scratch/beside/box"
(cd "$scratch" && beside/box --install ./beside) >"$scratch/out" 2>&1
is "links next to the binary are relative" "$? $(links_in "$scratch/beside")" "0 $(links_to box)"

# taken WHAT: a link's name exists already in $scratch/taken
taken()
{
    # shellcheck disable=SC2012 # one name, which is ours
    before=$(ls -l "$scratch/taken/stackcount")
    "$STACKBOX" --install "$scratch/taken" >"$scratch/out" 2>&1
    is "$1 is an error" $? 1
    is "$1 is named" "$(cat "$scratch/out")" "stackbox: $scratch/taken/stackcount exists,\
 is not stackbox, and was left alone"
    is "$1 is left alone" "$(ls -l "$scratch/taken/stackcount")" "$before"
    rm -r "$scratch/taken/stackcount"
}
mkdir "$scratch/taken"
echo precious >"$scratch/taken/stackcount"
taken "a file"
ln -s /bin/true "$scratch/taken/stackcount"
taken "a link to another program"
ln -s /nowhere "$scratch/taken/stackcount"
taken "a dangling link"
mkdir "$scratch/taken/stackcount"
taken "a directory"
ln -s "$scratch/links/stackcount" "$scratch/taken/stackcount"
"$STACKBOX" --install "$scratch/taken" >"$scratch/out" 2>&1
is "a link to our link is accepted" "$? $(links_in "$scratch/taken")" \
    "0 $(links_to "$(readlink -f "$STACKBOX")" stackcount "$scratch/links/stackcount")"

for directory in '' /nowhere "$scratch/out"; do
    "$STACKBOX" --install "$directory" >"$scratch/said" 2>&1
    is "\"$directory\" is no directory: exit status" $? 1
    contains "\"$directory\" is no directory: named" "$scratch/said" "$directory"
    is "\"$directory\" is no directory: one line" "$(wc -l <"$scratch/said")" 1
done
is "nothing was made in the wrong place" "$(ls /stackcount 2>/dev/null)" ""

# ---- scripts/install.sh

tree=$scratch/tree
for time in first second; do
    sh "$install_sh" "$tree" "$STACKBOX" >"$scratch/out" 2>&1
    is "install.sh succeeds, the $time time" "$? $(cat "$scratch/out")" "0 "
done
is "tree: all files are there" "$(cd "$tree" && find . ! -type d | LC_ALL=C sort | tr '\n' ' ')" \
    "$({
        for name in $names stackbox; do
            printf './bin/%s\n./share/man/man1/%s.1\n./share/bash-completion/completions/%s\n' \
                "$name" "$name" "$name"
        done
        echo ./share/fish/vendor_completions.d/stackbox.fish
        echo ./share/zsh/site-functions/_stackbox
    } | LC_ALL=C sort | tr '\n' ' ')"
is "tree: programs can be run by everybody" "$(stat -c %A "$tree/bin/stackbox")" -rwxr-xr-x
is "tree: files can be read by everybody" "$(stat -c %A "$tree/share/man/man1/stackcount.1")" -rw-r--r--
mv "$tree" "$scratch/moved"
is "tree: it can be moved" "$("$scratch/moved/bin/stackcount" -h | sed q)" \
    "Usage: stackcount [options] PATTERN... [-- COMMAND [ARG]...]"
"$STACKBOX" stackcount --man >"$scratch/page"
is "tree: the man page is the applet's" "$(cksum <"$scratch/moved/share/man/man1/stackcount.1")" \
    "$(cksum <"$scratch/page")"

mkdir -p "$scratch/a place/bin"
echo precious >"$scratch/a place/bin/stackcount"
if (cd "$scratch" && sh "$install_sh" "a place" "$STACKBOX") >"$scratch/out" 2>&1; then
    fail "another program of that name" "install.sh did not report it"
else
    contains "another program of that name: named" "$scratch/out" "a place/bin/stackcount is there already"
fi
is "another program of that name: it is left alone" "$(cat "$scratch/a place/bin/stackcount")" precious
rm "$scratch/a place/bin/stackcount"
(cd "$scratch" && umask 077 && sh "$install_sh" "a place" "$STACKBOX") >"$scratch/out" 2>&1
is "the directory may be relative and have a blank" \
    "$? $(cat "$scratch/out") $(links_in "$scratch/a place/bin")" \
    "0  $(links_to stackbox)"
is "a private umask does not matter" \
    "$(stat -c %A "$scratch/a place/bin/stackbox" "$scratch/a place/share" \
        "$scratch/a place/share/man" "$scratch/a place/share/man/man1" \
        "$scratch/a place/share/man/man1/stackbox.1" | tr '\n' ' ')" \
    "-rwxr-xr-x drwxr-xr-x drwxr-xr-x drwxr-xr-x -rw-r--r-- "

# Another program may be named check: links are optional, or have a prefix.
sh "$install_sh" --links no "$scratch/bare" "$STACKBOX" >"$scratch/out" 2>&1
is "LINKS=no: no links are made" "$? $(cat "$scratch/out") $(ls "$scratch/bare/bin")" "0  stackbox"
is "LINKS=no: man pages are" "$(ls "$scratch/bare/share/man/man1" | tr '\n' ' ')" \
    "$(for name in $names; do echo "stackbox-$name.1"; done | LC_ALL=C sort | tr '\n' ' ')stackbox.1 "
sh "$install_sh" --links sb- "$scratch/prefixed" "$STACKBOX" >"$scratch/out" 2>&1
is "links with a prefix are made" "$? $(cat "$scratch/out") $(links_in "$scratch/prefixed/bin")" \
    "0  $(for name in $names; do echo "sb-$name -> stackbox"; done | LC_ALL=C sort | tr '\n' ' ')"
is "links with a prefix run their applet" "$("$scratch/prefixed/bin/sb-stackcount" -h | sed q)" \
    "Usage: stackcount [options] PATTERN... [-- COMMAND [ARG]...]"
rm "$scratch/prefixed/bin/sb-check"
echo precious >"$scratch/prefixed/bin/sb-check"
if sh "$install_sh" --links sb- "$scratch/prefixed" "$STACKBOX" >"$scratch/out" 2>&1; then
    fail "a prefixed name that is taken" "install.sh did not report it"
else
    contains "a prefixed name that is taken: named" "$scratch/out" "bin/sb-check is there already"
fi
sh "$install_sh" --remove "$scratch/prefixed"
is "links with a prefix are removed" \
    "$(cd "$scratch/prefixed" && find . ! -type d | LC_ALL=C sort | tr '\n' ' ')" \
    "./bin/sb-check ./share/bash-completion/completions/sb-check ./share/man/man1/sb-check.1 "
for links in sb -sb- 's b-' ''; do
    sh "$install_sh" --links "$links" "$scratch/never" "$STACKBOX" >"$scratch/out" 2>&1
    is "--links \"$links\": refused" "$? $(ls "$scratch/never" 2>&1 | wc -l)" "2 1"
done

# A binary of another machine is not run: it has links, and no pages.
printf '\177ELF of another machine' >"$scratch/foreign"
if sh "$install_sh" "$scratch/other" "$scratch/foreign" >"$scratch/out" 2>&1; then
    fail "another machine's binary" "install.sh did not report it"
else
    contains "another machine's binary: what to do" "$scratch/out" "cannot be run on this machine: make install PAGES=no"
fi
sh "$install_sh" --links sb- --applets "$names" "$scratch/other" "$scratch/foreign" >"$scratch/out" 2>&1
is "another machine's binary, its applets given" \
    "$? $(cat "$scratch/out")$(cd "$scratch/other" && find . ! -type d | LC_ALL=C sort | tr '\n' ' ')" \
    "0 $({
        echo stackbox
        for name in $names; do echo "sb-$name"; done
    } | LC_ALL=C sort | sed 's,^,./bin/,' | tr '\n' ' ')"

# A running binary can be replaced; files that are not ours stay when it is removed.
tree=$scratch/tree
sh "$install_sh" "$tree" "$STACKBOX"
mkfifo "$scratch/held"
"$tree/bin/flamegraph" <"$scratch/held" >"$scratch/out" 2>&1 &
exec 3>"$scratch/held"
sh "$install_sh" "$tree" "$STACKBOX" >"$scratch/said" 2>&1
is "a running binary can be replaced" "$? $(cat "$scratch/said")" "0 "
echo 'a;b 1' >&3
exec 3>&-
wait $!
is "and it goes on running" "$? $(tail -n 1 "$scratch/out")" "0 </svg>"
ln -s stackbox "$tree/bin/an-applet-of-old"
echo page >"$tree/share/man/man1/an-applet-of-old.1"
rm "$tree/bin/profile"
echo precious >"$tree/bin/profile"
ln -s /bin/true "$tree/bin/true"
echo page >"$tree/share/man/man1/true.1"
for time in first second; do
    sh "$install_sh" --remove "$tree" >"$scratch/out" 2>&1
    is "--remove succeeds, the $time time" "$? $(cat "$scratch/out")" "0 "
done
is "removed: only others' files are left" "$(cd "$tree" && find . ! -type d | LC_ALL=C sort | tr '\n' ' ')" \
    "./bin/profile ./bin/true ./share/bash-completion/completions/profile ./share/man/man1/profile.1 \
./share/man/man1/true.1 "

if sh "$install_sh" "$scratch/moved" /nowhere >"$scratch/out" 2>&1; then
    fail "no binary" "install.sh did not report it"
else
    pass "no binary: it fails"
fi
sh "$install_sh" >"$scratch/out" 2>&1
is "no arguments: wrong usage" $? 2
