// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Pictures of other kinds: the root on top, of two, of very many stacks, of none.

import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { pathToFileURL } from "node:url";
import { AFTER_STACKS, at, framesOf, knownFrames, manyStacks } from "./truth.mjs";
import { compare, judgeLabels, look, middle, rgb, textOf } from "./seen.mjs";

export async function inverted({ visit, url, check }) {
    const frames = knownFrames;
    await visit(url("inverted"), {}, async (page) => {
        const seen = await look(page);
        const { wrong, found } = compare(seen, frames, { inverted: true });
        check("inverted, the root is on top", [...wrong, ...judgeLabels(seen, found)]);
        const zoom = at(frames, "app;main;serve");
        await page.move(...middle(found.get(zoom)));
        const details = await textOf(page, "details");
        check("inverted, the details are above it",
            details.text.startsWith("serve (") && details.y < seen.rows.at(-1)[0].y ? ""
                : `"${details.text}" at ${details.y}, the root at ${seen.rows.at(-1)[0].y}`);
        await page.click(...middle(found.get(zoom)));
        check("inverted, a click zooms",
            compare(await look(page), frames, { zoom, inverted: true }).wrong);
    });
}

export async function differences({ visit, url, check }) {
    const frames = framesOf(AFTER_STACKS);
    await visit(url("diff"), {}, async (page) => {
        const seen = await look(page);
        const { wrong, found } = compare(seen, frames);
        check("a picture of two is as wide as what is now", [...wrong, ...judgeLabels(seen, found)]);
        const boxOf = (path) => found.get(at(frames, path)) ?? { fill: "rgb(0,0,0)", title: "nothing" };
        const redness = (path) => {
            const [red, , blue] = rgb(boxOf(path).fill).parts;
            return Math.abs(red - blue) < 8 ? 0 : red - blue;
        };
        const judge = (path, sign, change) => {
            const { fill, title } = boxOf(path);
            return [
                Math.sign(redness(path)) !== sign && `${path} is ${fill}`,
                !title.replace(" %", "%").replaceAll("\u2212", "-").includes(change) &&
                    `${path}: "${title}", should have ${change}`,
            ];
        };
        check("what grew is red, what shrank blue, and the tooltip says by how much", [
            ...judge("app;main;read_config", -1, "-25.00%"),
            ...judge("app;main;serve;work", 1, "+25.00%"),
            ...judge("app;main;serve", 1, "+25.00%"), ...judge("app;main;new", 1, "+10.00%"),
            ...judge("app;main", 0, "0.00%"), ...judge("app;main;serve;wait", 0, "0.00%"),
        ]);
        const [more, less] = [redness("app;main;serve;work"), redness("app;main;new")];
        check("what grew more is redder", more > less ? "" : `${more} and ${less}`);
        check("frames that vanished are listed", seen.texts.some((text) => /\bgone\b/.test(text.text))
            ? "" : "no visible text names one");
    });
}

export async function veryMany({ visit, url, check, info, directory }) {
    const stacks = manyStacks();
    // In a flame graph of 1,200 px, frames of less than a tenth of a pixel are left out.
    const frames = framesOf(stacks, { least: 1 / 1200 });
    const size = statSync(`${directory}/many.svg`).size;
    check("20,000 stacks make at most 5 MB", size <= 5e6 ? "" : `${size} bytes`);
    await visit(url("many"), {}, async (page) => {
        const seen = await look(page);
        check(`the ${frames.length} frames of at least 1 px are there, and no others`,
            compare(seen, frames).wrong);
        const omitted = (framesOf(stacks).length - frames.length).toLocaleString("en-US");
        const subtitle = (await textOf(page, "subtitle")).text;
        check("the subtitle says how many were left out",
            subtitle.includes(`${omitted} `) ? "" : `"${subtitle}", should have ${omitted}`);
        const zoom = frames.find((frame) => frame.depth === 6 && frame.width > 0.01);
        await page.click(...middle(compare(seen, frames).found.get(zoom)));
        check("and can be zoomed", compare(await look(page), frames, { zoom }).wrong);
    });
    const plain = `${directory}/plain.svg`;
    writeFileSync(plain, plainPicture(frames));
    const ours = await leastLoad(visit, url("many"));
    const floor = await leastLoad(visit, pathToFileURL(plain).href);
    info(`20,000 stacks, ${size} bytes: load event after ${ours} ms; bare rectangles: ${floor} ms`);
    // Times on a busy machine mean nothing alone, but can be compared with each other.
    check("they load as bare rectangles do, six times as slow at most",
        ours <= 6 * Math.max(floor, 50) ? "" : `${ours} ms, bare: ${floor} ms`);
}

// As many rectangles and labels, and nothing else
function plainPicture(frames) {
    const boxes = frames.map((frame) =>
        `<rect x="${(frame.left * 1200).toFixed(2)}" y="${600 - 16 * frame.depth}" ` +
        `width="${(frame.width * 1200).toFixed(2)}" height="15" fill="#e08040"/>`);
    const labels = frames.filter((frame) => frame.width * 1200 > 30).map((frame) =>
        `<text x="${(frame.left * 1200).toFixed(2)}" y="${612 - 16 * frame.depth}">name</text>`);
    return `<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="640">` +
        [...boxes, ...labels, "</svg>"].join("");
}

// Milliseconds from the navigation to the end of the load event, the least of five
async function leastLoad(visit, url) {
    const times = [];
    for (let i = 0; i < 5; i++)
        times.push(await visit(url, {}, (page) =>
            page.call(() => performance.timing.loadEventEnd - performance.timing.navigationStart)));
    return Math.min(...times);
}

export async function nothingToShow({ visit, url, check }) {
    await visit(url("empty"), {}, async (page) => {
        const { texts, boxes } = await look(page);
        check("a picture of nothing says so", [
            texts.some(({ text }) => /\bno\b|nothing|empty/i.test(text)) ? ""
                : JSON.stringify(texts.map(({ text }) => text)),
            boxes.length > 0 && `${boxes.length} frames`]);
    });
}

// Traced by applets: the folded text of the same run says what must be there.
function report({ directory }, name) {
    const lines = readFileSync(`${directory}/${name}.folded`, "utf8").split("\n").filter(Boolean);
    const stacks = lines.map((line) => /^(.*) (\d+)$/.exec(line))
        .map(([, stack, count]) => [stack, Number(count)]);
    return { all: framesOf(stacks), drawn: framesOf(stacks, { least: 1 / 1200 }) };
}

export async function counted({ visit, url, check, info, directory }) {
    if (!existsSync(`${directory}/counted.svg`))
        return info("no pictures of reports: nothing was traced");
    const { drawn } = report({ directory }, "counted");
    // Wide enough that the command line is not cut
    await visit(url("counted"), { width: 4000 }, async (page) => {
        const seen = await look(page);
        const { wrong, found } = compare(seen, drawn);
        check("stackcount's picture has the frames of its folded text", wrong);
        const title = found.get(drawn[0])?.title;
        const sum = drawn[0].value.toLocaleString("en-US");
        check("and its sum", title?.startsWith(`all (${sum} `) && title.endsWith(", 100.00 %)")
            ? "" : `the root says "${title}", should be ${sum}`);
        const said = seen.texts.map((text) => text.text).join("\n");
        check("it says what ran where", [hostname(), "stackcount", "getppid", "calls -n 500"]
            .filter((word) => !said.includes(word)).map((word) => `no ${word}`));
    });
}

export async function chained({ visit, url, check, directory }) {
    if (!existsSync(`${directory}/chained.svg`))
        return;
    const { all, drawn } = report({ directory }, "chained");
    await visit(url("chained"), {}, async (page) => {
        const { wrong, found } = compare(await look(page), drawn);
        const sides = { target: new Set(), waker: new Set() };
        const onMeeting = ({ parent }) => parent && (parent.kind === "meeting" || onMeeting(parent));
        for (const [frame, { fill }] of found)
            if (frame.kind !== "meeting" && frame.kind !== "delimiter")
                sides[onMeeting(frame) ? "waker" : "target"].add(fill);
        check("offwaketime's picture has wakers on top of targets", [...wrong,
            sides.waker.size && sides.target.size ? "" : `only ${all.length} frames, and no waker`]);
        check("in colours of their own", [...sides.waker].filter((fill) => sides.target.has(fill))
            .map((fill) => `${fill} is of both`));
    });
}
