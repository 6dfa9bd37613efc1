// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Zooming, and the address that brings one back.

import { SEMICOLON_STACKS, at, framesOf, knownFrames as frames, percent } from "./truth.mjs";
import { clickText, middle, textOf } from "./seen.mjs";
import { boxOf, judgeZoom, zoomTo } from "./handled.mjs";

export async function zooms({ visit, url, check, is }) {
    const serve = at(frames, "app;main;serve"), handle = at(frames, "app;main;serve;handle_request");
    await visit(url("known"), {}, async (page) => {
        await zoomTo(page, handle);
        check("a click zooms to the frame", await judgeZoom(page, handle));
        const leaf = at(frames, "app;main;serve;handle_request;parse_request");
        await page.move(...middle(await boxOf(page, leaf, handle)));
        const details = (await textOf(page, "details")).text;
        const share = `${percent(leaf.value, handle.value, 2)}%`;
        check("the details say the share of the zoom too",
            details.startsWith("parse_request (1,314 samples, ") &&
            details.replace(" %", "%").includes(`${percent(leaf.value, frames[0].value, 2)}%`) &&
            details.replaceAll(" %", "%").includes(share) ? "" : `${details}: should have ${share}`);
        await zoomTo(page, serve, handle);
        check("a click on an ancestor goes back to that", await judgeZoom(page, serve));
        await zoomTo(page, frames[0], serve);
        check("a click on the root goes back to all", await judgeZoom(page, frames[0]));
        await zoomTo(page, leaf);
        await clickText(page, "reset");
        check("Reset Zoom goes back to all", await judgeZoom(page, frames[0]));
        await zoomTo(page, leaf);
        await page.press("Escape");
        check("so does Escape", await judgeZoom(page, frames[0]));
    });
}

export async function zoomsToEvilNames({ visit, url, check }) {
    const wrong = [];
    for (const frame of at(frames, "evil").children.values()) {
        const where = await visit(url("known"), {}, async (page) => {
            await zoomTo(page, frame);
            wrong.push(...await judgeZoom(page, frame));
            return page.call(() => location.href);
        });
        await visit(where, {}, async (page) => wrong.push(...await judgeZoom(page, frame)));
    }
    check("frames of any name can be zoomed to, and found again by their address", wrong);
}

export async function zoomsByTouch({ visit, url, check }) {
    await visit(url("known"), {}, async (page) => {
        const frame = at(frames, "app;main");
        await page.tap(...middle(await boxOf(page, frame)));
        check("a finger zooms", await judgeZoom(page, frame));
    });
}

// Names from folded text have no `;`. Paths must not be confused with one another.
export async function namesWithSemicolons({ visit, url, check }) {
    const tree = framesOf(SEMICOLON_STACKS, { separator: "|" });
    const wrong = [];
    for (const zoom of tree.filter((frame) => frame.depth > 1)) {
        const where = await visit(url("semicolons"), {}, async (page) => {
            await zoomTo(page, zoom, tree[0], tree);
            return page.call(() => location.href);
        });
        await visit(where, {}, async (page) => wrong.push(...await judgeZoom(page, zoom, tree)));
    }
    check("the address tells names with ; apart, and twins", wrong);
}
