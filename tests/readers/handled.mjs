// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// What is done to a picture, and what it must look like afterwards.

import { isBelow, knownFrames, matchedIn, pathOf, percent } from "./truth.mjs";
import { clickText, compare, judgeLabels, look, middle, textOf } from "./seen.mjs";

const MAGENTA = "rgb(230, 0, 230)";

// What is wrong with a flame graph that is zoomed to this frame
export async function judgeZoom(page, zoom, tree = knownFrames) {
    const seen = await look(page);
    const { wrong, found } = compare(seen, tree, { zoom });
    for (const [frame, box] of found) {
        const expected = frame !== zoom && isBelow(zoom, frame) ? 0.5 : 1;
        if (Math.abs(box.opacity - expected) > 0.01)
            wrong.push(`${frame.name}: opacity ${box.opacity}, should be ${expected}`);
    }
    const reset = await textOf(page, "reset");
    if (reset.visible !== (zoom !== tree[0]))
        wrong.push(`Reset Zoom is ${reset.visible ? "" : "not "}visible`);
    return [...wrong, ...judgeLabels(seen, found)];
}

export async function boxOf(page, frame, zoom = knownFrames[0], tree = knownFrames) {
    const box = compare(await look(page), tree, { zoom }).found.get(frame);
    if (!box)
        throw new Error(`${pathOf(frame).join(";")} is not to be seen`);
    return box;
}

export async function zoomTo(page, frame, zoom = knownFrames[0], tree = knownFrames) {
    await page.click(...middle(await boxOf(page, frame, zoom, tree)));
}

// Opens the search by a key, or by the text if `how` is "click", and searches for this.
export async function search(page, expression, how = "F3") {
    if (how === "click")
        await clickText(page, "search");
    else
        await page.press(how);
    await page.type(expression);
    await page.press("Enter");
}

// What is wrong with a flame graph in which these are searched
export async function judgeSearch(page, regex, zoom = knownFrames[0]) {
    const { found } = compare(await look(page), knownFrames, { zoom });
    const wrong = [...found].filter(([frame]) => frame.parent)
        .filter(([frame, box]) => regex.test(frame.name) !== (box.fill === MAGENTA))
        .map(([frame, box]) => `${frame.name} is ${box.fill}`);
    const share = percent(matchedIn(zoom, regex), zoom.value, 1);
    const { text, visible } = await textOf(page, "matched");
    const says = zoom === knownFrames[0] ? text.replace(" %", "%") === `Matched: ${share}%`
        : text.replaceAll(" %", "%").includes(` ${share}%`);
    if (!says || !visible)
        wrong.push(`"${text}" is said, should be ${share}%`);
    return [...wrong, found.size > 5 ? "" : `only ${found.size} frames are where they belong`];
}

export async function judgeNoSearch(page, zoom = knownFrames[0]) {
    const seen = await look(page);
    return [
        ...compare(seen, knownFrames, { zoom }).wrong,
        seen.boxes.some((box) => box.fill === MAGENTA) && "a frame is still magenta",
        (await textOf(page, "matched")).visible && "Matched is still visible",
        await page.call(() => /[?&]s=./.test(location.search)) && "the address still has it",
    ];
}
