// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// What a picture must show, computed here from the folded text that it is made of.

import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

// Names that would do harm if they were not treated as text.
export const EVIL = [
    "<script>window.injected=alert(1)</script>",
    "</title></text><script>window.injected=1</script>",
    "\" onload=\"window.injected=1\" x=\"",
    "]]>", "--><img src=x onerror=window.injected=1>", "a&b\"c'd", "&lt &#65 <b/>",
    "größe→π 字", "name with spaces", "100% a+b?c=d&e=f#g", "back\\slash ${injected} `tick`",
    "__proto__", "constructor", "${window.injected=1}", "</script><svg onload=window.injected=1>",
    "std::__detail::_Map_base<std::basic_string<char, std::char_traits<char>, std::allocator<char> >, " +
    "std::pair<const std::basic_string<char>, std::vector<std::unique_ptr<Widget> > >, true>::" +
    "operator[](const std::basic_string<char, std::char_traits<char> >&) [clone .isra.0]",
];

// A known tree, in which no two shares are equal.
const KNOWN = [
    ["app;main;read_config", 307],
    ["app;main;read_config;parse_line", 701],
    ["app;main;serve;accept_loop;do_syscall_64_[k];inet_accept_[k]", 449],
    ["app;main;serve;handle_request;parse_line", 907],
    ["app;main;serve;handle_request;parse_request;parse_line", 1103],
    ["app;main;serve;handle_request;parse_request;Parse_Header", 211],
    ["app;main;serve;handle_request;write_reply;do_syscall_64_[k];ksys_write_[k];vfs_write_[k]", 1301],
    ["app;main;serve;handle_request;write_reply;format_number_[i]", 503],
    ["app;main;-;page_fault_[k];handle_mm_fault_[k]", 263],
    ["app;thread_start;work;compute", 1907],
    ["app;thread_start;work", 97],
    ["node;jitted_[j];inner_[j]", 389],
    ["target;schedule_[k];--;try_to_wake_up_[k];waking_side;waker", 331],
];

export const KNOWN_STACKS = [...KNOWN, ...EVIL.map((name, i) => [`evil;${name};leaf`, 150 + 17 * i])];
// The same with other shares: the same names have the same colours there.
export const OTHER_STACKS = KNOWN.map(([stack, count], i) => [stack, 100 + 13 * (KNOWN.length - i)]);
// For comparisons of two: some grew, some shrank, one is new, one vanished.
export const BEFORE_STACKS = [
    ["app;main;read_config", 400], ["app;main;serve;work", 300], ["app;main;serve;wait", 200],
    ["app;main;gone", 100],
];
export const AFTER_STACKS = [
    ["app;main;read_config", 150], ["app;main;serve;work", 550], ["app;main;serve;wait", 200],
    ["app;main;new", 100],
];
// Frames separated by `|`. Two with the same name are of different kinds.
export const SEMICOLON_STACKS = [
    ["a;b|c|d", 300], ["a|b;c|d", 500], ["a|b|c;d", 700], ["a|b|c|d", 1100],
    ["a|twin|leaf", 600], ["a|twin_[k]|leaf", 800],
    ["&lt;em&gt; &#65;|<i>;</i>|\\;\\;", 900],
];

export function folded(stacks) {
    return stacks.map(([stack, count]) => `${stack} ${count}\n`).join("");
}

// 20,000 different stacks of some 25 frames each, as on a busy machine; the same each
// time.
export function manyStacks(count = 20_000) {
    let state = 1;
    const random = (limit) => {
        state = (state * 1103515245 + 12345) % 2147483648;
        return Math.floor(state / 2147483648 * limit);
    };
    const parts = "read write alloc page inode queue handler dispatch list node".split(" ");
    const names = Array.from({ length: 3000 }, (_, i) =>
        `${parts[random(10)]}_${parts[random(10)]}_${parts[random(10)]}_${i}${i % 3 ? "" : "_[k]"}`);
    const stacks = new Map();
    const recent = [];
    while (stacks.size < count) {
        const like = recent.length ? recent[random(recent.length)] : [];
        const kept = like.slice(0, Math.max(0, like.length - 1 - random(random(20) ? 8 : 30)));
        const depth = Math.max(kept.length + 1, 15 + random(20));
        const frames = [...kept];
        while (frames.length < depth)
            frames.push(names[random(1 + random(names.length))]);
        stacks.set(frames.join(";"), 1 + (random(8) ? random(4) : random(400)));
        if (recent.length < 400)
            recent.push(frames);
        else
            recent[random(400)] = frames;
    }
    return [...stacks];
}

const ENDING = /^(.+)_\[([kjiw])\]$/s;
const KINDS = { k: "kernel", j: "jit", i: "inlined", w: "waker" };

function newFrame(text, parent) {
    const [, name, letter] = ENDING.exec(text) ?? [null, text, null];
    const kind = text === "-" ? "delimiter" : text === "--" ? "meeting" : KINDS[letter] ?? "plain";
    const depth = parent ? parent.depth + 1 : 0;
    return { name, kind, parent, depth, value: 0, children: new Map() };
}

const byName = (a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name));

// Left and width are shares of the whole. Frames narrower than `least` take no space.
function place(frame, left, total, least, into) {
    into.push(Object.assign(frame, { left: left / total, width: frame.value / total }));
    for (const child of [...frame.children.values()].sort(byName)) {
        if (child.value / total < least)
            continue;
        place(child, left, total, least, into);
        left += child.value;
    }
}

// The frames of a flame graph of these stacks, root first, with at least this share of it.
export function framesOf(stacks, { separator = ";", least = 0 } = {}) {
    const root = newFrame("all", null);
    for (const [stack, count] of stacks) {
        let frame = root;
        root.value += count;
        for (const text of stack.split(separator)) {
            if (!frame.children.has(text))
                frame.children.set(text, newFrame(text, frame));
            frame = frame.children.get(text);
            frame.value += count;
        }
    }
    const frames = [];
    place(root, 0, root.value, least, frames);
    return frames;
}

export function pathOf(frame) {
    return frame.parent ? [...pathOf(frame.parent), frame.name] : [];
}

// The frame at this path of names, without suffixes; the root's is "".
export function at(frames, path) {
    const found = frames.find((frame) => pathOf(frame).join(";") === path);
    if (!found)
        throw new Error(`the truth has no frame ${path}`);
    return found;
}

export function isBelow(frame, ancestor) {
    return frame === ancestor || (frame.parent !== null && isBelow(frame.parent, ancestor));
}

// The value of matches in a frame and above it; frames above a match are included in it.
export function matchedIn(frame, regex) {
    if (frame.parent && regex.test(frame.name))
        return frame.value;
    return [...frame.children.values()].reduce((sum, child) => sum + matchedIn(child, regex), 0);
}

export function percent(part, whole, digits) {
    return (100 * part / whole).toFixed(digits);
}

export const knownFrames = framesOf(KNOWN_STACKS);

// truth.mjs DIRECTORY: writes the folded text for all flame graphs.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const files = {
        known: KNOWN_STACKS, other: OTHER_STACKS, before: BEFORE_STACKS, after: AFTER_STACKS,
        many: manyStacks(), semicolons: SEMICOLON_STACKS, empty: [],
    };
    for (const [name, stacks] of Object.entries(files))
        writeFileSync(`${process.argv[2]}/${name}.folded`, folded(stacks));
}
