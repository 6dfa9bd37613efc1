#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# seeds.sh      makes the files of corpus/elf, corpus/usdt, corpus/link_cache, corpus/folded, corpus/xz,
#               corpus/zlib, corpus/btf, corpus/frame_rows and corpus/exidx anew, and for all what may be dear
#
# With gcc, clang, ld.lld, llvm-objcopy, python3, xz and elfutils. The files are committed, as they depend on
# the compilers. Each is as small as a linker makes it, a few KB, so that a fuzzer's changes hit what is read.

# shellcheck disable=SC2086 # lists of words
set -eu
cd "$(dirname "$0")"
corpus=$PWD/corpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > exe.c <<'END'
__attribute__((noinline)) static int inner(int n) { return n * 3; }
__attribute__((weak)) int outer(int n) { return inner(n) + 1; }
int alias(int) __attribute__((alias("outer")));
void _start(void) { outer(7); for (;;) __asm__ volatile("" ::: "memory"); }
END
cat > lib.c <<'END'
int other(int); int another(int);
__attribute__((noinline)) int first(int n) { return other(n) + 1; }
int second(int n) { return first(n) * another(n); }
END
cat > sdt.S <<'END'
.file "sdt.S"
.text
.globl _start
.type _start,@function
_start: nop
1: nop
ret
.size _start, .-_start
.section .note.stapsdt,"","note"
.balign 4
.4byte 2f-3f, 5f-4f, 3
3: .asciz "stapsdt"
2: .balign 4
4: .8byte 1b
.8byte _.stapsdt.base
.8byte sema
.asciz "provider"
.asciz "probe"
.asciz "4@%edi -8@-16(%rbp)"
5: .balign 4
.4byte 2f-3f, 5f-4f, 3
3: .asciz "stapsdt"
2: .balign 4
4: .8byte 1b+1
.8byte _.stapsdt.base
.8byte 0
.asciz "provider"
.asciz "second"
.asciz ""
5: .balign 4
.section .stapsdt.base,"a"
.weak _.stapsdt.base
.hidden _.stapsdt.base
_.stapsdt.base: .space 1
.section .probes,"aw"
sema: .2byte 0
END
flags="-Os -nostdlib -ffreestanding -fno-asynchronous-unwind-tables \
    -fno-stack-protector -fno-ident"
link="-Wl,--no-warn-rwx-segments -Wl,-z,noseparate-code -Wl,-n \
    -Wl,-z,max-page-size=16"
gcc $flags -static -fno-pie -no-pie -Wl,--build-id=sha1 $link -o exe64 exe.c
gcc $flags -m32 -static -fno-pie -no-pie -Wl,--build-id=none $link -o exe32 exe.c
gcc $flags -fPIC -shared -fcf-protection=full -Wl,-z,ibtplt -Wl,--hash-style=gnu $link -o lib64 lib.c
gcc $flags -fPIC -shared -fcf-protection=none -Wl,--hash-style=sysv $link -Wl,-z,now -fno-plt -o lib64now lib.c
gcc $flags -m32 -fPIC -shared -fcf-protection=none -Wl,--hash-style=both $link -o lib32 lib.c
gcc $flags $link -static -o sdt64 sdt.S
sed -i 's/\.8byte/.4byte/' sdt.S
gcc $flags $link -m32 -static -o sdt32 sdt.S
for file in exe64 lib64 lib32 sdt64; do
    cp $file $file-stripped
    strip $file-stripped
done
cp lib64-stripped lib64-nosections
# Without sections, as some packers leave them
python3 - <<'END'
b=bytearray(open('lib64-nosections','rb').read())
shoff=int.from_bytes(b[40:48],'little'); b[40:48]=bytes(8); b[58:64]=bytes(6)
open('lib64-nosections','wb').write(b[:shoff])
END
objcopy --only-keep-debug exe64 exe64.debug
cp exe64 exe64-link
strip exe64-link
objcopy --add-gnu-debuglink=exe64.debug exe64-link
xz -k exe64.debug
strip -o exe64-packed exe64
objcopy --add-section .gnu_debugdata=exe64.debug.xz exe64-packed
rm exe64.debug.xz
eu-elfcompress -q --force -t zlib -n .symtab -n .strtab -o lib64-compressed lib64
for target in powerpc-linux-gnu powerpc64-linux-gnu armv7-linux-gnueabi aarch64-linux-gnu \
    riscv64-linux-gnu; do
    name=${target%%-*}
    clang --target=$target -Os -ffreestanding -fno-ident -fPIC -c lib.c -o object
    ld.lld -shared --hash-style=gnu -n -o "$name" object
done
clang --target=s390x-linux-gnu -Os -ffreestanding -fno-ident -fPIC -c lib.c -o s390x-object

rm -f object ./*.c ./*.S sdt.o
chmod 644 ./*
mkdir -p "$corpus/elf" "$corpus/usdt"
cp sdt64 sdt32 sdt64-stripped exe64 lib64 lib32 "$corpus/usdt"
cp ./* "$corpus/elf"

mkdir -p "$corpus/link_cache"
cd "$corpus/link_cache"
python3 - <<'END'
from struct import pack

LIBRARIES = [('libc.so.6', '/lib/x86_64-linux-gnu/libc.so.6', 0),
             ('libc.so.6', '/lib32/libc.so.6', 0),
             ('libc.so.6', '/lib/haswell/libc.so.6', 1 << 62),
             ('libssl.so.3', '/usr/lib/libssl.so.3', 0),
             ('ld-musl-x86_64.so.1', '/lib/ld-musl-x86_64.so.1', 0)]

def strings(first):
    """The strings one behind the other, and where those of each library are."""
    places, text = [], b''
    for name, path, _ in LIBRARIES:
        places.append((first + len(text), first + len(text) + len(name) + 1))
        text += name.encode() + b'\0' + path.encode() + b'\0'
    return places, text

def old(order, first=0):
    places, text = strings(first)
    entries = b''.join(pack(order + '3I', 3, *place) for place in places)
    return b'ld.so-1.7.0\0' + pack(order + 'I', len(places)) + entries, text

def new(order, said):
    places, text = strings(48 + 24 * len(LIBRARIES))
    entries = b''.join(pack(order + '4IQ', 0x303, *place, 0, library[2])
                       for place, library in zip(places, LIBRARIES))
    return (b'glibc-ld.so.cache1.1' + pack(order + '2I', len(places), len(text)) +
            bytes([said, 0, 0, 0]) + bytes(16) + entries + text)

def both():
    """The strings are behind the new one's entries, for both."""
    head, _ = old('<')
    pad = -len(head) % 8
    return old('<', pad + 48 + 24 * len(LIBRARIES))[0] + bytes(pad) + new('<', 2)

for name, content in {'new': new('<', 2), 'new-unsaid': new('<', 0), 'new-big': new('>', 3),
                      'old': b''.join(old('<')), 'old-big': b''.join(old('>')),
                      'both': both(), 'empty': new('<', 2)[:20] + bytes(28)}.items():
    open(name, 'wb').write(content)
END

mkdir -p "$corpus/folded"
cd "$corpus/folded"
cat >tools <<'END'
# async-profiler's, and other tools' output
tar;__libc_start_main;main;read_all;[libc.so.6];-;entry_SYSCALL_64_after_hwframe_[k];ksys_read_[k];vfs_read_[k] 12
tar;__libc_start_main;main;read_all;[libc.so.6];-;entry_SYSCALL_64_after_hwframe_[k];ksys_write_[k] 3
java;Ljava/lang/Thread:::run;Lcom/x/Y:::get_[j];inlined_[i] 7
sh;do_wait;--;wake_up_[w];exit_[w];ls 250
app;core::ops::function::FnOnce::call_once::h0123456789abcdef;b.constprop.0.isra.0 9
app;core::ops::function::FnOnce::call_once;b.part.3.cold;b.llvm.123 2.5
app;std::map<int, char>::at(int) const;operator new(unsigned long) 1
END
printf 'a;b 1 2\na;c 0 3\na;b.cold;c 3 0\na 7\n' >pairs
# Blanks, line ends, bytes that are not text, sums that do not fit, and malformed numbers
printf '%b' ';;a; 5\r\na b;c 12 3\n\0001\0377;\0303\0251;\0000 18446744073709551615\n' \
    'a;b 18446744073709551615\n# 5\n#;x 2\nx -1\nx 1e3\nx .5\nx 0.5\nx 00.50\nx\t5\n 5\n5\n\n' \
    '_[k] 1\na_[k]_[k] 2\na 5 5 5\nall 1\nb_12 3' >edges
awk 'BEGIN { for (i = 0; i < 60; i++) { for (d = 0; d < i % 9 + 1; d++)
    printf "%sf%d", d ? ";" : "", (i * 7 + d * 3) % 5; print " " i } }' >wide

mkdir -p "$corpus/xz" "$corpus/zlib"
cd "$corpus/xz"
python3 - <<'END'
import lzma
from lzma import (CHECK_CRC32, CHECK_CRC64, CHECK_NONE, CHECK_SHA256, FILTER_DELTA, FILTER_LZMA2,
                  FORMAT_RAW)

WORDS = b'a frame above a frame above a frame; main above _start, 0123456789 9876543210\n'
MORE = WORDS * 3 + bytes(i * i >> 3 & 255 for i in range(200)) + WORDS[::-1] * 2

def raw(text, **options):
    return lzma.compress(text, FORMAT_RAW, filters=[{'id': FILTER_LZMA2, **options}])

def stream(text, check, **options):
    return lzma.compress(text, check=check, filters=[{'id': FILTER_LZMA2, **options}])

# Chunks with 01, c0, 80, 02, 80, a0, c0 with other properties, e0: see tests/unit/unpack_lzma2.c
CONTROLS = bytes.fromhex('01000568656c6c6f20c0000a000b5d003b9bcaab740bedcdea0000800005000600d3'
                         '1f7c000000020004706c61696e800004000600d228a71f0000a000080005009c3ffc00'
                         '00c0000800081200329c65c420d03000e0000600081200371a165cb604300000')
files = {'crc32': stream(WORDS, CHECK_CRC32), 'crc64': stream(MORE, CHECK_CRC64),
         'sha256': stream(WORDS, CHECK_SHA256), 'none': stream(MORE, CHECK_NONE, lc=1, lp=3, pb=0),
         'empty': lzma.compress(b'', check=CHECK_CRC32),
         'delta': lzma.compress(WORDS, filters=[{'id': FILTER_DELTA}, {'id': FILTER_LZMA2}]),
         'streams': stream(WORDS, CHECK_NONE) + bytes(8) + stream(MORE, CHECK_NONE, pb=4),
         'chunks': raw(MORE), 'chunks-lp': raw(MORE, lc=0, lp=4, pb=4),
         'chunks-plain': raw(bytes(i * i * i >> 5 & 255 for i in range(300))),
         'chunks-long': raw(WORDS * 400), 'controls': CONTROLS}
for name, content in files.items():
    open(name, 'wb').write(content)
END
# Blocks with their sizes
printf 'a frame above a frame, 0123456789 9876543210 below nothing else than frames' |
    xz -c --check=none -T2 --block-size=30 >blocks
cd "$corpus/zlib"
python3 - <<'END'
import zlib

WORDS = b'a frame above a frame above a frame; main above _start, 0123456789 9876543210\n'
MORE = WORDS * 3 + bytes(i * i >> 3 & 255 for i in range(200)) + WORDS[::-1] * 2

def stream(text, level, strategy=zlib.Z_DEFAULT_STRATEGY, flush=None):
    packer = zlib.compressobj(level, strategy=strategy)
    packed = packer.compress(text[:60])
    if flush:
        packed += packer.flush(flush)
    return packed + packer.compress(text[60:]) + packer.flush()

files = {'stored': stream(WORDS, 0), 'fixed': stream(WORDS, 9, zlib.Z_FIXED),
         'dynamic': stream(MORE, 9), 'huffman': stream(WORDS, 9, zlib.Z_HUFFMAN_ONLY),
         'runs': stream(b'a' * 300 + b'b' * 1000, 9, zlib.Z_RLE), 'long': stream(WORDS * 400, 9),
         'flushed': stream(WORDS, 6, flush=zlib.Z_SYNC_FLUSH), 'empty': stream(b'', 9),
         'many': stream(bytes(i * i * i >> 7 & 127 for i in range(900)), 9, flush=zlib.Z_FULL_FLUSH)}
for name, content in files.items():
    open(name, 'wb').write(content)
END
# The struct is that of tests/unit/btf.c.
cd "$work"
cat >tasks.c <<'END'
typedef _Bool bool;
typedef int pid_t;
struct list { struct list *next; };
struct task_struct {
    long first;
    volatile long state;
    struct { int lock; union { const pid_t pid; long word; }; };
    unsigned int narrow : 3, wide : 13;
    int exit_state;
    char comm[16];
    struct task_struct *parent;
    struct list children;
    enum { A, B } kind;
};
typedef void (*btf_trace_sched_switch)(void *, bool, struct task_struct *, struct task_struct *,
                                       unsigned int);
typedef void (*btf_trace_sched_waking)(void *, struct task_struct *);
typedef int not_a_function;
btf_trace_sched_switch on_switch;
btf_trace_sched_waking on_waking;
not_a_function number;
END
clang -target bpf -g -O1 -c tasks.c -o tasks.o
mkdir -p "$corpus/btf"
llvm-objcopy --dump-section .BTF="$corpus/btf/clang" tasks.o

# Unwind tables: compilers' and hand-written ones, with and without the sorted list of functions.
cat > odd.S <<'END'
.text
.globl _start
.type _start,@function
.globl other
_start: .cfi_startproc
.cfi_undefined rip
nop
.cfi_endproc
.size _start,.-_start
drap: .cfi_startproc
lea 8(%rsp),%r10
.cfi_def_cfa r10,0
and $-32,%rsp
push -8(%r10)
push %rbp
.cfi_escape 0x10,6,2,0x76,0
mov %rsp,%rbp
push %r10
.cfi_escape 0x0f,3,0x76,0x78,6
pop %r10
.cfi_def_cfa r10,0
pop %rbp
lea -8(%r10),%rsp
.cfi_def_cfa rsp,8
ret
.cfi_endproc
plt: .cfi_startproc
.cfi_escape 0x0f,11,0x77,8,0x80,0,0x3f,0x1a,0x3b,0x2a,0x33,0x24,0x22
nop
.cfi_remember_state
.cfi_adjust_cfa_offset 8
nop
.cfi_restore_state
.cfi_same_value rbp
ret
.cfi_endproc
word: .cfi_startproc
.cfi_escape 0x0f,5,0x77,16,6,0x23,8
.cfi_rel_offset rbp,0
nop
.cfi_escape 0x16,6,1,0x30
.cfi_register rip,rdx
ret
.cfi_endproc
handler: .cfi_startproc
.cfi_signal_frame
nop
.cfi_def_cfa_register rbx
nop
.cfi_offset rbx,-24
ret
.cfi_endproc
END
cat > frames.c <<'END'
int other(int);
int f(int n) { volatile char b[300]; b[n] = 1; return other(b[n]) + n; }
int g(int n) { return f(n) * f(n + 1); }
END
{ echo '.cfi_sections .debug_frame'; sed '/^\.globl other/d' odd.S; } > debug.S
{
    cat odd.S
    cat <<'END'
.section .gopclntab,"a"
.4byte 0xfffffff1
.byte 0, 0, 1, 8
.8byte 2, 0, 0x1d6, 0, 0, 0, 0, 72
.4byte 0, 0, 16, 0, 48
END
} > go.S
flat='-nostdlib -Wl,--build-id=none -Wl,-z,noseparate-code'
mkdir -p "$corpus/frame_rows"
gcc -shared $flat -s -Wl,--eh-frame-hdr -o "$corpus/frame_rows/odd" odd.S
gcc -shared $flat -s -Wl,--no-eh-frame-hdr -o "$corpus/frame_rows/plain" odd.S
gcc -shared $flat -s -Wl,--eh-frame-hdr -o "$corpus/frame_rows/go" go.S
gcc -O2 -fPIC -shared $flat -s -o "$corpus/frame_rows/lib" frames.c
gcc -no-pie $flat -o "$corpus/frame_rows/debug" debug.S

# Functions of 32-bit ARM: with all forms of entries, and with system calls in both kinds of code.
cat > exidx.S <<'END'
.syntax unified
.text
.macro function name
.p2align 4
.type \name, %function
\name: .fnstart
.endm
#ifdef THUMB
.thumb
#endif
function stub
.save {r7}
push {r7}
mov r7, #20
svc 0
pop {r7}
bx lr
.fnend
function other
.save {r7}
push {r7}
mov r7, #64
svc 0
pop {r7}
bx lr
.fnend
function call
.save {r7, lr}
push {r7, lr}
.pad #8
sub sp, #8
mov r7, r12
svc 0
add sp, #8
pop {r7, pc}
.fnend
function framed
.save {r4, r7, lr}
push {r4, r7, lr}
.setfp r7, sp
mov r7, sp
bl call
mov sp, r7
pop {r4, r7, pc}
.fnend
function floats
.vsave {d8-d11}
.save {r4-r11, lr}
nop
.fnend
function far
.pad #0x2344
.save {r0-r3}
.save {r4, r6, r8, lr}
nop
.fnend
function generic
.save {r4, lr}
push {r4, lr}
bl call
pop {r4, pc}
.personality stub
.handlerdata
.word 0
.fnend
function thread
.cantunwind
blx r0
#ifdef THUMB
mov.w r7, #1
#else
mov r7, #1
#endif
svc 0
.fnend
END
mkdir -p "$corpus/exidx"
for kind in THUMB ARM; do
    name=$(echo $kind | tr A-Z a-z)
    clang --target=armv7-linux-gnueabihf -D$kind -c -o object exidx.S
    ld.lld -shared -n -s --hash-style=gnu -o "$corpus/exidx/$name" object
done

# ---- Costs: holes (fuzz_hole), long names, and one thing that many others refer to
cd "$work"
cat >many.S <<'EOF'
.text
.globl _start
.type _start,@function
_start: nop
.rept 150
.cfi_startproc
nop
.cfi_def_cfa_offset 16
.cfi_endproc
.endr
.size _start,.-_start
EOF
gcc -shared $flat -s -Wl,--no-eh-frame-hdr -o "$corpus/frame_rows/many" many.S
cat >notes.S <<'EOF'
.text
.globl _start
.type _start,@function
_start: nop
.size _start,.-_start
.section .note.stapsdt,"","note"
.rept 120
.balign 4
.4byte 8, 5f-4f, 3
.asciz "stapsdt"
4: .8byte _start, 0, 0
.asciz "provider"
.asciz "probe"
.asciz "4@%edi"
5: .balign 4
.endr
EOF
gcc $flags $link -static -s -o "$corpus/usdt/many" notes.S
{
    echo 'typedef int t0;'
    seq 300 | awk '{ print "typedef t" $1 - 1 " t" $1 ";" }'
    echo 'struct task_struct { t300 exit_state; } task;'
} >many.c
clang -target bpf -g -O1 -c many.c -o many.o
llvm-objcopy --dump-section .BTF="$corpus/btf/many" many.o
corpus=$corpus recordings=${corpus%/fuzz/corpus}/recordings python3 - <<'EOF'
import lzma, os, subprocess, zlib
from struct import pack, pack_into, unpack_from

CORPUS = os.environ['corpus']
LONG = 'n' * 6000

def write(name, content):
    if isinstance(content, str):
        content = content.encode()
    assert len(content) <= 16384, name
    open(f'{CORPUS}/{name}', 'wb').write(content)

def read(name):
    return open(f'{CORPUS}/{name}', 'rb').read()

def hole(content, exponent, at=None):
    return content + pack('<HBB', len(content) if at is None else at, exponent, 0) + b'HOLE'

def section(name, kind, offset, size, link=0, entry=0):
    return pack('<IIQQQQIIQQ', name, kind, 6 if kind == 1 else 0, 0x1000, offset, size, link, 1, 8, entry)

def elf(symbols, strings, symbol_bytes=None):
    """A program of one segment, with a symbol table behind its strings."""
    head = 64 + 56
    names = b'\0.text\0.symtab\0.strtab\0'
    table = b''.join(pack('<IBBHQQ', name, 0x12, 0, 1, 0x1000 + at, 1) for at, name in enumerate(symbols))
    places = [head, head + 64, head + 64 + len(names), head + 64 + len(names) + len(strings)]
    sections = [section(0, 0, 0, 0), section(1, 1, places[0], 300),
                section(7, 2, places[3], len(table) if symbol_bytes is None else symbol_bytes, 3, 24),
                section(15, 3, places[2], len(strings)), section(0, 3, places[1], len(names))]
    header = b'\x7fELF\2\1\1' + bytes(9) + pack('<HHIQQQIHHHHHH', 2, 62, 1, 0x1000, 64, places[3] + len(table), 0,
                                                64, 56, 1, 64, len(sections), 4)
    segment = pack('<IIQQQQQQ', 1, 5, 0, 0x1000 - head, 1 << 20, 1 << 20, 1 << 20, 4096)
    return header + segment + b'\x90' * 64 + names + strings + table + b''.join(sections)

def endless_hash():
    """No sections, and a hash table of symbols whose chain goes on in the hole."""
    image = bytearray(read('elf/lib64-nosections'))
    image += bytes(-len(image) % 8)
    for at in range(64, 64 + 56 * image[56], 56):
        kind, _, offset, address = unpack_from('<IIQQ', image, at)
        if kind == 1 and not offset:
            pack_into('<QQ', image, at + 32, 1 << 45, 1 << 45)
        if kind == 2:
            for entry in range(offset, len(image) - 16, 16):
                tag = unpack_from('<Q', image, entry)[0]
                if tag == 0x6ffffef5:
                    pack_into('<Q', image, entry + 8, len(image))
                if not tag:
                    break
    return hole(bytes(image) + pack('<IIIIQI', 1, 1, 1, 0, 0, 1), 40)

NAME = b'\0' + LONG.encode() + b'\0'
SPARSE = {'elf': ('exe64', 'lib64'), 'usdt': ('sdt64', 'sdt32'), 'frame_rows': ('odd', 'debug'), 'exidx': ('arm', 'thumb')}
for target, names in SPARSE.items():
    for name, exponent in zip(names, (34, 50)):
        write(f'{target}/{name}-hole', hole(read(f'{target}/{name}'), exponent))
write('elf/names', elf([1] * 300, NAME))
write('elf/suffixes', elf(range(1, 300), NAME))
write('elf/symbols-hole', hole(elf([], NAME, 1 << 40), 45, 0x3000))
write('elf/hash-hole', endless_hash())
for name in 'names', 'suffixes':
    write(f'usdt/{name}', read(f'elf/{name}'))
write('usdt/names-4000', elf([1] * 300, b'\0' + NAME[-4001:]))

write('jitmap/hole', hole(b'1000 10 first\n2000 10 second\n', 50))
write('jitmap/between', hole(b'1000 10 first\n2000 10 second\n1000 20 last\n', 36, 14))
write('jitmap/overlap', ''.join(f'{i:x} ffffffffffff f{i}\n' for i in range(700)))
write('jitmap/name', f'1000 10 {LONG}\n1000 10 {LONG}\n')
write('folded/name', f'{LONG} 1\n{LONG[1:]};{LONG[2:2000]} 1\n')
write('folded/deep', 'a;' * 4000 + 'a 1\n' + 'b;a;' * 1500 + 'a 2\n')
write('folded/lines', ''.join(f'a;b{i};c{i % 7};d 1\n' for i in range(900)))
write('kallsyms/name', ''.join(f'ffffffff8100{i:04x} t {LONG[:2500]}\n' for i in range(6)))
write('kallsyms/same', 'ffffffff81000000 t same\n' * 600)
write('maps/name', f'1000-2000 r-xp 00000000 08:01 5 /{LONG}\n' * 2)
write('maps/same', '1000-2000 r-xp 00000000 08:01 5   /usr/lib/a.so\n' * 300)
write('cxx_names/name', f'_Z6000{LONG}v\n_ZN1a6000{LONG}E1b\n')
DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ'
TWICE = '_Z1f1pI1A1AE' + ''.join(f'S{DIGITS[i + 2]}_IS{DIGITS[i + 2]}_S{DIGITS[i + 2]}_E' for i in range(20))
write('cxx_names/twice', f'{TWICE}\n' * 50)
write('cxx_names/nested', '_Z1f' + 'P' * 4000 + 'i\n_Z1f' + 'N1aI' * 1500 + 'i\n_Z' + 'sr1aIX' * 800 + '\n')
write('rust_names/name', f'_RNvC6000{LONG}1a\n')
write('rust_names/nested', '_RINvC1a1b' + 'R' * 4000 + 'hE\n_RINvC1a1b' + 'T' * 2000 + '\n')
# Each tuple has the one before it twice.
twice = 'INvC1a1bThhE'
for i in range(12):
    digits = ''
    number = twice.rindex('T') - 1
    while True:
        digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'[number % 62] + digits
        number //= 62
        if not number:
            break
    twice += f'TB{digits}_B{digits}_E'
write('rust_names/twice', f'_R{twice}E\n' * 100)
write('condition/nested', '(' * 3000 + 'arg1 == 1' + ')' * 3000)
write('condition/terms', 'arg1 == 1 || ' * 700 + 'arg2 == 2')
write('xz/zeros', lzma.compress(bytes(1 << 20), check=lzma.CHECK_CRC32))
write('zlib/zeros', zlib.compress(bytes(1 << 20), 9))
# Each of 400 libraries has the same two strings.
FIRST = 48 + 24 * 400
write('link_cache/same', b'glibc-ld.so.cache1.1' + pack('<2I', 400, 4200) + bytes([2, 0, 0, 0]) + bytes(16) +
      pack('<4IQ', 0x303, FIRST, FIRST + 100, 0, 0) * 400 + b'l' * 99 + b'\0' + b'p' * 4099 + b'\0')

def recording(name, files, symbols, entries):
    text = ('section 2\n3 "0.2" "profile" "profile" "h" "k" "x86_64" ""\n1000000000 2000000000 1 "" ""\n1 2 3\n'
            '1 1 0 0 0\n"samples" "cpu" "nanoseconds" 20408163\n1 1 0 0\n'
            f'section 3\n{files}\nsection 4\n1 1 0\nsection 5\n{symbols}\nsection 6\n{entries}\n')
    open('text', 'w').write(text)
    subprocess.run(['python3', os.environ['recordings'] + '/make.py', 'text', 'made'], check=True)
    write(f'recording/{name}', open('made', 'rb').read()[5:-4])

KERNEL = '5 "" 0xffffffff81000000 0x1000000 0'
ENTRY = '0 1 1 0   0 1 0 "t" 5 0 0'
recording('module', f'1 5 "{LONG}" 0xffffffff81000000 0 0', '1 0 0 0xffffffff81000000 1500 ' + '~1 0 ' * 1500,
          f'1 {ENTRY}')
recording('name', f'1 {KERNEL}', '1 0 0 0xffffffff81000000 1500 ' + f'~1 "{LONG}"+0 0 ' * 1500, f'1 {ENTRY}')
recording('twice', f'1 {KERNEL}', '1 0 0 0xffffffff81000000 800 ' + f'~1 "{TWICE}"+0 0 ' * 800, f'1 {ENTRY}')
recording('modules', f'3 {KERNEL} 6 "ma" 0xffffffffc0000000 0 0 6 "mb" 0xffffffffc0000000 0 0',
          '2 0 1 0xffffffffc0000000 900 ' + '~8 "f"+0 0 ' * 900 + '0 2 0xffffffffc0000004 900 ' + '~8 "f"+0 0 ' * 900,
          '1 0 1 1 0  0 1 0 "t" 1801 ' + ' '.join(str(i) for i in range(1800)) + ' 0 0')
EOF
