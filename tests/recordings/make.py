#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR GPL-2.0-only
#
# make.py TEXT OUT      a recording of a text that has its numbers one by one
#
# By the page alone (src/docs/recordings.md), not by stackbox: numbers, "strings" of the table of those, x and
# hexadecimal digits for bytes as they are, ~N for what may be below 0, "name"+B for the number of a name with a bit
# below it, # up to the end of a line for people. A section begins with `section N`; strings come first by
# themselves.
import re
import sys
import zlib


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


strings = []
sections = []
version = 1
for line in open(sys.argv[1], encoding='utf-8', errors='surrogateescape'):
    for word in re.findall(r'"[^"]*"(?:\+[01])?|#.*|\S+', line):
        if word.startswith('#'):
            continue
        if word.startswith('section'):
            sections.append([None, b''])
        elif sections and sections[-1][0] is None:
            sections[-1][0] = int(word)
        elif word.startswith('"'):
            text, bit = word[1:].split('"')
            if text and text not in strings:
                strings.append(text)
            number = strings.index(text) + 1 if text else 0
            sections[-1][1] += varint(number * 2 + int(bit) if bit else number)
        elif word.startswith('x'):
            sections[-1][1] += bytes.fromhex(word[1:])
        elif word.startswith('~'):
            number = int(word[1:], 0)
            sections[-1][1] += varint(number * 2 if number >= 0 else -number * 2 - 1)
        else:
            sections[-1][1] += varint(int(word, 0))
strings = [s.encode('utf-8', 'surrogateescape') for s in strings]
table = varint(len(strings)) + b''.join(varint(len(s)) + s for s in strings)
out = b'SBX\x1a' + varint(version)
for number, body in [[1, table]] + sections:
    out += varint(number) + varint(len(body)) + body
out += b'\0\x04'
out += zlib.crc32(out).to_bytes(4, 'little')
open(sys.argv[2], 'wb').write(out)
