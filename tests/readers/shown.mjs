// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// What a picture shows before anybody touches it, and of the frame under the pointer.

import {
    EVIL, KNOWN_STACKS, OTHER_STACKS, framesOf, knownFrames as frames, pathOf, percent,
} from "./truth.mjs";
import { compare, judgeLabels, look, middle, rgb, textOf } from "./seen.mjs";

const total = frames[0].value;

// What is wrong with `name (1,234 samples, 12.34 %)`. A very long name may be cut if it is shown in
// one line.
function judgeSaying(text, frame, { cut = false } = {}) {
    const count = frame.value.toLocaleString("en-US");
    const numbers = ` (${count} samples, ${percent(frame.value, total, 2)} %)`;
    const name = text?.endsWith(numbers) ? text.slice(0, -numbers.length) : "";
    if (name === frame.name)
        return "";
    if (cut && name.length > 100 && name.endsWith("..") && frame.name.startsWith(name.slice(0, -2)))
        return "";
    return `it says "${text}", should be "${frame.name}${numbers}"`;
}

export async function renders({ visit, url, check, is }) {
    await visit(url("known"), {}, async (page) => {
        const seen = await look(page);
        const { wrong, found } = compare(seen, frames);
        check("each frame is where it belongs, with its width, siblings by name", wrong);
        check("labels are in their frames", judgeLabels(seen, found));
        is("the root is called all", judgeSaying(found.get(frames[0])?.title, frames[0], "it"), "");
        check("the picture is as wide as the window",
            found.get(frames[0])?.width > 0.93 * seen.width && seen.scrollWidth <= seen.width
                ? "" : `${found.get(frames[0])?.width} of ${seen.width}`);
        check("each frame has a tooltip that says name, count and share",
            frames.map((frame) => judgeSaying(found.get(frame)?.title, frame)));
        check("what says Reset Zoom and Matched is not there yet",
            [(await textOf(page, "reset")).visible && "Reset Zoom is visible",
             (await textOf(page, "matched")).visible && (await textOf(page, "matched")).text]);
        is("the picture has a title", (await textOf(page, "title")).text, "Flame Graph");
    });
}

export async function saysWhatIsPointedAt({ visit, url, check, is }) {
    await visit(url("known"), {}, async (page) => {
        const { found } = compare(await look(page), frames);
        const wrong = [];
        for (const [frame, box] of found) {
            await page.move(...middle(box));
            wrong.push(judgeSaying((await textOf(page, "details")).text, frame, { cut: true }));
        }
        check(`the line of details is right for each of ${frames.length} frames`,
            [...wrong, found.size < frames.length && `only ${found.size} are where they belong`]);
        check("names that look like scripts are text",
            EVIL.filter((name) => ![...found.keys()].some((frame) => frame.name === name)));
        await page.move(2, 2);
        is("and it is empty beside them", (await textOf(page, "details")).text.trim(), "");
    });
}

export async function colours({ visit, url, check }) {
    const paint = (name, stacks) => visit(url(name), {}, async (page) => {
        const fills = new Map();
        for (const [frame, box] of compare(await look(page), framesOf(stacks)).found)
            fills.set(pathOf(frame).join(";"), { frame, fill: box.fill });
        return fills;
    });
    const one = await paint("known", KNOWN_STACKS), other = await paint("other", OTHER_STACKS);
    const wrong = [], byName = new Map();
    for (const [path, { frame, fill }] of [...one, ...other]) {
        const key = `${frame.kind} ${frame.name}`;
        // Everything above a `--` is the waker's.
        if (path.includes(";--;"))
            continue;
        if (byName.has(key) && byName.get(key) !== fill)
            wrong.push(`${path}: ${fill} and ${byName.get(key)}`);
        byName.set(key, fill);
    }
    check("the same name has the same colour, in another picture too",
        other.size > 20 ? wrong : `only ${other.size} frames were found`);
    const fill = (path) => one.get(path)?.fill ?? `nothing at ${path}`;
    const pairs = [
        ["user and kernel", "app;main;serve;accept_loop", "app;main;serve;accept_loop;do_syscall_64"],
        ["user and jit", "node", "node;jitted"],
        ["user and inlined", "app;main;serve;handle_request;write_reply",
         "app;main;serve;handle_request;write_reply;format_number"],
        ["target's and waker's kernel", "target;schedule", "target;schedule;--;try_to_wake_up"],
        ["target's and waker's user", "target", "target;schedule;--;try_to_wake_up;waking_side"],
    ];
    const families = pairs.map(([what, a, b]) => {
        const [left, right] = [a, b].map((path) => hue(fill(path)));
        const apart = Math.abs(((left - right + 540) % 360) - 180);
        return !(apart >= 10) && `${what}: ${fill(a)} and ${fill(b)}`;
    });
    check("kernel, user, jit, inlined and waker frames differ in hue", families);
    const [light, dark] = ["app;main;-", "target;schedule;--"].map((path) => rgb(fill(path)).parts);
    const grey = (parts) => Math.max(...parts) - Math.min(...parts) < 12;
    check("- is light grey, -- dark grey",
        grey(light) && grey(dark) && light[0] > dark[0] + 20 ? "" : `${light} and ${dark}`);
}

function hue(fill) {
    const [r, g, b] = rgb(fill).parts;
    const most = Math.max(r, g, b), span = most - Math.min(r, g, b);
    if (!span)
        return NaN;
    const sixth = most === r ? (g - b) / span : most === g ? 2 + (b - r) / span : 4 + (r - g) / span;
    return (60 * sixth + 360) % 360;
}
