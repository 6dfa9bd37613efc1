#!/bin/sh
# SPDX-License-Identifier: MIT OR GPL-2.0-only
# again: with nodejs and git
#
# What xz packs in many ways, and what tools here pack with zlib, unpacks to the same bytes; anything else is
# refused.

. "${0%/*}/../live/lib.sh"

export LC_ALL=C

unpack=$(tool unpack)
[ -x "$unpack" ] || skip_all "build/release/workloads/unpack is not built"

# ---- inputs: of many kinds, and with sizes at the ends of chunks and blocks

mkdir "$scratch/files" "$scratch/packed"
cd "$scratch/files" || exit 1
: >empty
printf x >byte
head -c 300000 /dev/zero >zeros
head -c 150000 /dev/urandom >random
head -c 300000 "$unpack" >program
seq 1 30000 >numbers
# Repeats from far back, and then nothing that repeats
cat random program >far
head -c 100000 random >>far
seq 20000 22000 >>far
head -c 65536 program >even

# same PACKED FILE KIND: does PACKED unpack to FILE, with not a byte more allowed than that?
same()
{
    "$unpack" "$3" "$(wc -c <"$2")" <"$1" 2>"$scratch/err" | cmp -s - "$2"
}

# refused NAME KIND MOST STATUS: stdin is refused
refused()
{
    "$unpack" "$2" "$3" >"$scratch/out" 2>"$scratch/err"
    is "$1" "$? $(wc -c <"$scratch/out")" "$4 0"
}

# ---- xz

# try_xz FILE OPTION...: adds differences to the list
try_xz()
{
    file=$1
    shift
    tried=$((tried + 1))
    xz -c "$@" <"$file" >"$scratch/packed/xz" && same "$scratch/packed/xz" "$file" xz ||
        differ="$differ|$file $*: $(cat "$scratch/err")"
}

if command -v xz >/dev/null; then
    for file in *; do
        tried=0 differ=
        for option in -0 -3 -6 -2e -6e --check=none --check=crc32 --check=crc64 --check=sha256 \
            --lzma2=lc=0,lp=0,pb=0 --lzma2=lc=4,lp=0,pb=4 --lzma2=lc=0,lp=4,pb=0 \
            --lzma2=lc=1,lp=3,pb=3 --lzma2=lc=2,lp=2,pb=1 --lzma2=dict=4KiB \
            --lzma2=dict=48KiB,nice=8 --lzma2=mode=fast,mf=hc3,nice=273 --lzma2=mf=bt2,mode=normal \
            --block-size=65536 --block-size=65537; do
            try_xz "$file" $option
        done
        try_xz "$file" -1 -T2 --block-size=50000
        try_xz "$file" -6 -T2 --block-size=99999 --check=sha256
        is "xz: $file, packed in $tried ways" "$differ" ""
    done
    tried=0 differ=
    for option in -1 -2 -4 -5 -7 -8 -9 -0e -1e -3e -4e -5e -7e -9e; do
        try_xz program $option
    done
    is "xz: all levels unpack" "$differ" ""

    # Several streams, some followed by zeros, and an empty one
    {
        xz -c --check=none byte
        head -c 8 /dev/zero
        xz -c --check=crc32 -T2 --block-size=30000 numbers
        xz -c empty
        head -c 4 /dev/zero
        xz -c --check=sha256 random
    } >"$scratch/packed/streams"
    cat byte numbers random >"$scratch/streams"
    same "$scratch/packed/streams" "$scratch/streams" xz
    is "xz: several streams unpack" $? 0

    xz -c numbers >"$scratch/packed/xz"
    refused "xz: a byte too many" xz $(($(wc -c <numbers) - 1)) 4 <"$scratch/packed/xz"
    head -c -1 "$scratch/packed/xz" | refused "xz: a byte too little" xz 1000000 1
    { cat "$scratch/packed/xz"; echo; } | refused "xz: excess data after it" xz 1000000 1
    refused "xz: an empty file" xz 1000000 1 <empty
    refused "xz: a zlib stream" zlib 1000000 1 <"$scratch/packed/xz"
    xz -c --format=lzma numbers | refused "xz: the older format" xz 1000000 1
    xz -c --format=raw --lzma2=preset=6 numbers | refused "xz: without a container" xz 1000000 1
    gzip -c numbers | refused "xz: of gzip" xz 1000000 1
    xz -c --x86 --lzma2 program | refused "xz: another filter before it" xz 1000000 3
    xz -c --delta=dist=4 --lzma2 numbers | refused "xz: a delta before it" xz 1000000 3
else
    skip "xz" "it is not installed"
fi

# ---- zlib

# check_packed WHO: checks the files named NAME.ANYTHING
check_packed()
{
    tried=0 differ=
    for packed in "$scratch"/packed/*.*; do
        file=${packed##*/}
        tried=$((tried + 1))
        same "$packed" "${file%%.*}" zlib || differ="$differ|$file: $(cat "$scratch/err")"
    done
    is "zlib: $tried streams of $1" "$differ" ""
    between "zlib: streams of $1" $tried 100 10000
    rm "$scratch"/packed/*.*
}

# Windows of 512 bytes to 32 KB, levels 0 to 9, and strategies: default, filtered, only Huffman, only runs,
# fixed codes; and each kind of flush between pieces of a stream
if python3 -c 'import zlib' 2>/dev/null; then
    python3 - "$scratch/packed" ./* <<'END'
import sys, zlib
for name in sys.argv[2:]:
    text = open(name, 'rb').read()
    for window in (9, 15):
        for level in (0, 1, 6, 9):
            for strategy in range(5):
                packer = zlib.compressobj(level, 8, window, 1 + (level + strategy) % 9, strategy)
                packed = packer.compress(text[:1000])
                if strategy % 2:
                    packed += packer.flush((1, 2, 3, 5)[(level + window) % 4])
                packed += packer.compress(text[1000:]) + packer.flush()
                settings = '%d-%d-%d' % (window, level, strategy)
                open('%s/%s.%s' % (sys.argv[1], name, settings), 'wb').write(packed)
END
    check_packed python3
else
    skip "zlib: streams of python3" "it is not installed"
fi
if command -v node >/dev/null; then
    node - "$scratch/packed" ./* <<'END'
const fs = require('fs'), zlib = require('zlib')
const [to, ...names] = process.argv.slice(2)
for (const name of names)
    for (const windowBits of [9, 14])
        for (let level = 0; level < 10; level++) {
            const options = { level, windowBits, memLevel: 1 + level % 9, strategy: level % 5 }
            fs.writeFileSync(`${to}/${name}.${windowBits}-${level}`,
                             zlib.deflateSync(fs.readFileSync(name), options))
        }
END
    check_packed node
else
    skip "zlib: streams of node" "it is not installed"
fi

# Each git object is such a stream, with a header that ends in a NUL before its contents.
if command -v git >/dev/null; then
    git init -q --bare "$scratch/git"
    tried=0 differ=
    for file in *; do
        for level in 0 1 3 5 6 7 9; do
            name=$(git -C "$scratch/git" -c core.looseCompression=$level \
                hash-object -w --stdin <"$file")
            object=$scratch/git/objects/$(echo "$name" | sed 's,^..,&/,')
            { printf 'blob %d\0' "$(wc -c <"$file")"; cat "$file"; } >"$scratch/blob"
            tried=$((tried + 1))
            same "$object" "$scratch/blob" zlib || differ="$differ|$file at level $level"
            rm -f "$object"
        done
    done
    is "zlib: $tried objects of git" "$differ" ""
    git -C "$scratch/git" -c core.looseCompression=9 hash-object -w --stdin <numbers >/dev/null
    object=$(find "$scratch/git/objects" -type f)
    refused "zlib: a byte too many" zlib "$(wc -c <numbers)" 4 <"$object"
    head -c -1 "$object" | refused "zlib: a byte too little" zlib 1000000 1
    { cat "$object"; echo; } | refused "zlib: excess data after it" zlib 1000000 1
    refused "zlib: an xz stream" xz 1000000 1 <"$object"
else
    skip "zlib: objects of git" "it is not installed"
fi
refused "zlib: an empty file" zlib 1000000 1 <empty
gzip -c numbers | refused "zlib: of gzip" zlib 1000000 1
# A stream that says that it needs a preset dictionary, and which
printf '\170\273\0\0\0\1\3\0\0\0\0\1' | refused "zlib: with a dictionary" zlib 1000000 3
cd / || exit 1
