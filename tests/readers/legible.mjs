// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Whether it can be read: contrast, small windows, no scripts.

import { at, knownFrames as frames } from "./truth.mjs";
import { compare, judgeLabels, leastContrast, look, middle } from "./seen.mjs";
import { boxOf, judgeZoom, zoomTo } from "./handled.mjs";

const LEAST_CONTRAST = 4.5;

export async function contrasts({ visit, url, check, info }) {
    let least = { ratio: Infinity };
    for (const dark of [false, true])
        for (const name of ["known", "diff"])
            await visit(url(name), { dark }, async (page) => {
                const judge = async (state) => {
                    const { ratio, text, count } = await leastContrast(page);
                    const what = `${name}, ${dark ? "dark" : "light"}, ${state}`;
                    check(`texts can be read: ${what}`,
                        ratio >= LEAST_CONTRAST && count > 5 ? ""
                            : `contrast ${ratio.toFixed(2)} of "${text}", the least of ${count}`);
                    if (ratio < least.ratio)
                        least = { ratio, text, what };
                };
                await judge("as it opens");
                if (name === "diff")
                    return;
                await page.move(...middle(await boxOf(page, at(frames, "app;main;serve"))));
                await judge("with details");
                await page.press("F3");
                await judge("asked for an expression");
                await page.type("parse|sys|a");
                await judge("while it is typed");
                await page.press("Enter");
                await judge("searched");
                const zoom = at(frames, "app;main;serve;handle_request");
                await zoomTo(page, zoom);
                await judge("searched and zoomed");
                await page.press("Escape");
                await judge("zoomed");
            });
    info(`the least contrast: ${least.ratio.toFixed(2)}, ${least.what}: ${least.text}`);
}

// What is wrong with the layout in a window of this width
function judgePlaces(seen, width) {
    const things = [...seen.boxes, ...seen.texts.map((text) => ({ ...text.seen, text: text.text }))];
    return [
        ...things.filter((thing) => thing.x < -0.5 || thing.x + thing.width > width + 0.5)
            .map((thing) => `${thing.text ?? thing.title} ends at ${thing.x + thing.width}`),
        seen.scrollWidth > width && `${seen.scrollWidth} px to scroll`,
        ...overlaps(seen.texts),
    ];
}

export async function smallWindows({ visit, url, check }) {
    const judge = async (page, width) => {
        const seen = await look(page);
        const { wrong, found } = compare(seen, frames);
        return [...wrong, ...judgeLabels(seen, found), ...judgePlaces(seen, width)];
    };
    await visit(url("known"), { width: 400 }, async (page) =>
        check("a window of 400 px holds all of it", await judge(page, 400)));
    await visit(url("known"), {}, async (page) => {
        await page.resize(400, 800);
        check("so does one that became 400 px wide", await judge(page, 400));
        await page.resize(1000, 800);
        check("and one that became wider again", await judge(page, 1000));
        const zoom = at(frames, "app;main;serve");
        await zoomTo(page, zoom);
        await page.resize(400, 800);
        check("a zoom stays when the window becomes 400 px wide", await judgeZoom(page, zoom));
    });
}

// All texts shown at the same time
export async function smallWindowsInUse({ visit, url, check }) {
    await visit(url("known"), { width: 400 }, async (page) => {
        const states = [];
        const judge = async (state) => {
            const wrong = judgePlaces(await look(page), 400).filter(Boolean);
            states.push(...wrong.map((why) => `${state}: ${why}`));
        };
        const longest = frames.find((frame) => frame.name.length > 200);
        await zoomTo(page, longest);
        await judge("a long name");
        await page.press("F3");
        await judge("asked for an expression");
        await page.type("parse_(line|request).*which is long, as expressions go");
        await page.press("Enter");
        await judge("searched");
        await page.press("Escape");
        await page.press("F3");
        await page.type("((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((");
        await page.press("Enter");
        await judge("no expression");
        check("a window of 400 px holds what is said of searches and zooms", states);
    });
}

export async function noScripts({ visit, url, check }) {
    for (const width of [1200, 400])
        await visit(url("known"), { scripts: false, width }, async (page) => {
            const seen = await look(page);
            const { wrong, found } = compare(seen, frames);
            const labels = width < 1200 ? [] : judgeLabels(seen, found);
            check(`without scripts frames and labels are there, at ${width} px`, [
                ...wrong, ...labels, ...overlaps(seen.texts),
                seen.texts.some((text) => text.label && text.text.endsWith("..")) ? ""
                    : "no label is cut",
                seen.texts.filter((text) => text.label).length > 10 ? "" : "few labels",
                ...seen.texts.filter((text) => /Search|Reset|^ic$/.test(text.text))
                    .map((text) => `"${text.text}" is offered`),
            ]);
        });
}

// Texts that overlap
function overlaps(texts) {
    const boxes = texts.map(({ text, seen }) => ({ text, ...seen }));
    return boxes.flatMap((one, i) => boxes.slice(i + 1)
        .filter((other) => Math.min(one.x + one.width, other.x + other.width) -
                Math.max(one.x, other.x) > 1 &&
            Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y) > 4)
        .map((other) => `"${one.text}" lies on "${other.text}"`));
}
