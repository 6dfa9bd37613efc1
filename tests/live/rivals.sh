#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# guests: none
# host: yes
#
# If no event came, and a process or container has the function in another file, stackbox says so: a
# process with its own allocator, and a root with its own libraries. The test makes both; without
# them stackbox says nothing.
. "${0%/*}/lib.sh"

have_root || skip_all "tracing needs root"
have_uprobes || skip_all "this kernel has no uprobes"
CC=${CC:-cc}
command -v "$CC" >/dev/null || skip_all "no C compiler is installed"
libc=$(ldd /bin/sleep 2>/dev/null | grep -o '/[^ ]*/libc\.so\.6')
[ "$libc" ] || skip_all "sleep is linked statically here"

cat >"$scratch/mine.c" <<'END'
#include <stddef.h>
static char room[1 << 20];
static size_t used;
void *malloc(size_t size) { used += (size + 31) & ~(size_t)15; return used < sizeof(room) ? room + used - ((size + 31) & ~(size_t)15) : NULL; }
void free(void *memory) { (void)memory; }
END
"$CC" -shared -fPIC -o "$scratch/libmine.so" "$scratch/mine.c" || skip_all "no library can be built"

# told WHAT REGEX: exactly one line on stderr is that
told()
{
    is "$1" "$status $(grep -cE "^stackcount: $2\$" "$scratch/err")" "0 1"
}

# A program that makes no more calls, with the library and without
LD_PRELOAD=$scratch/libmine.so sleep 300 &
preloaded=$!
sleep 300 &
plain=$!
kill_at_end "$preloaded" "$plain"
# mapped PID FILE: has it mapped the file already?
mapped()
{
    grep -q "$2" "/proc/$1/maps" && [ "$(cat "/proc/$1/wchan")" != 0 ]
}
wait_until 10 mapped $preloaded "$scratch/libmine.so"
wait_until 10 mapped $plain libc.so.6
run_stackbox stackcount -D 0.2 -p $preloaded c:malloc
told "a process with another malloc is reported" \
    "process $preloaded has malloc in $scratch/libmine.so, too, and may call that one: $scratch/libmine.so:malloc"
run_stackbox stackcount -D 0.2 -p $preloaded "$scratch/libmine.so:malloc"
is "so is one with libc's, if the other is traced" \
    "$status $(grep -c 'has malloc in .*/libc.so.6, too' "$scratch/err")" "0 1"
is "the traced library is not named" "$(grep -c 'has malloc in .*/libmine.so, too' "$scratch/err")" 0
run_stackbox stackcount -D 0.2 -p $plain c:malloc
is "a process without another malloc is not reported" "$status $(grep -c 'too, and may' "$scratch/err")" "0 0"
run_stackbox stackcount -D 0.2 -p $preloaded c:l64a
is "a function that exists once is not reported" "$status $(grep -c 'too, and may' "$scratch/err")" "0 0"
run_stackbox stacksnoop -D 0.2 -p $preloaded c:malloc
is "stacksnoop reports it, too" \
    "$status $(grep -c "has malloc in $scratch/libmine.so, too" "$scratch/err")" "0 1"
run_stackbox stackcount -f c:malloc -- ls /
is "nothing is reported if there were events" \
    "$status $(grep -cE 'too, and may|a container' "$scratch/err")" "0 0"

# ---- A root directory with a libc of its own

root=$scratch/root
mkdir -p "$root/bin"
cp /bin/sleep "$root/bin/"
ldd /bin/sleep | grep -o '/[^ ]*' | while read -r file; do
    mkdir -p "$root/${file%/*}"
    cp "$file" "$root/$file"
done
chroot "$root" /bin/sleep 300 &
inside=$!
kill_at_end "$inside"
wait_until 10 mapped $inside libc.so.6
# Other containers on this machine may come first: up to four are listed.
run_stackbox stackcount -D 0.2 c:l64a
if grep -q "no events" "$scratch/err"; then
    is "a container with another libc is reported" \
        "$status $(grep -cE "^stackcount: a container, such as that of process [0-9]+, has libraries of its \
own, which are not traced: /proc/[0-9]+/root/.*libc\.so[^:]*:l64a\$" "$scratch/err" | sed 's/[1-4]/some/')" "0 some"
    where=$(sed -n "s/^stackcount: a container, .*: \(\/proc\/$inside\/root.*\)/\1/p" "$scratch/err")
    if [ "$where" ]; then
        run_stackbox stackcount --list "$where"
        is "the pattern that it suggests works" "$status $(grep -c "$root/.*:l64a" "$scratch/out")" "0 1"
    else
        skip "the pattern that it suggests works" "other containers run on this machine"
    fi
fi
run_stackbox stackcount -D 0.2 -p $plain c:l64a
is "with -p no container is reported" "$status $(grep -c "a container" "$scratch/err")" "0 0"
run_stackbox stackcount c:l64a -- true
is "nor with a command" "$status $(grep -c "a container" "$scratch/err")" "0 0"
