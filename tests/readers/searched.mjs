// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Searching, and the address of what was found.

import { at, knownFrames as frames } from "./truth.mjs";
import { clickText, compare, look, textOf } from "./seen.mjs";
import { judgeNoSearch, judgeSearch, judgeZoom, search, zoomTo } from "./handled.mjs";

export async function searches({ visit, url, check, is }) {
    for (const how of ["F3", "Control+f", "/", "click"])
        await visit(url("known"), {}, async (page) => {
            await search(page, "^parse_", how);
            check(`a search by ${how} finds all, and counts nested matches once`,
                await judgeSearch(page, /^parse_/));
            const { text } = await textOf(page, "search");
            is(`the text offers to reset it, by ${how}`, text, "Reset Search");
            if (how === "/")
                await page.press("Escape");
            else if (how === "click")
                await clickText(page, "search");
            else
                await page.press(how);
            check(`${how === "/" ? "Escape" : `${how} again`} resets it`, await judgeNoSearch(page));
        });
}

export async function searchesExpressions({ visit, url, check }) {
    const all = [/parse_(line|request)$/, /_64$|^work/, /<script>/, /\(1\)/, /^a&b"/, /größe→π/,
                 /operator\[\]/, /^__proto__$/, / /, /nothing of this/, /.*/];
    const wrong = [];
    await visit(url("known"), {}, async (page) => {
        for (const regex of all) {
            await search(page, regex.source);
            const reasons = (await judgeSearch(page, regex)).filter(Boolean);
            wrong.push(...reasons.map((why) => `${regex}: ${why}`));
            await page.press("F3");
        }
    });
    check(`${all.length} regular expressions find what they match`, wrong);
}

export async function searchesInAZoom({ visit, url, check }) {
    const zoom = at(frames, "app;main;serve");
    await visit(url("known"), {}, async (page) => {
        await search(page, "parse_line|sys");
        await zoomTo(page, zoom);
        check("a zoom after a search says the share of the zoom",
            await judgeSearch(page, /parse_line|sys/, zoom));
        await page.press("Escape");
        check("Escape ends the search first", await judgeNoSearch(page, zoom));
        await search(page, "^p");
        check("a search in a zoom says the share of the zoom", await judgeSearch(page, /^p/, zoom));
        await clickText(page, "reset");
        check("Reset Zoom leaves the search", await judgeSearch(page, /^p/));
    });
}

export async function ignoresCase({ visit, url, check, is }) {
    await visit(url("known"), {}, async (page) => {
        await search(page, "PARSE_header");
        check("a search minds capitals", await judgeSearch(page, /PARSE_header/));
        await page.press("Control+i");
        check("after Ctrl-I it does not", await judgeSearch(page, /PARSE_header/i));
        const where = await page.call(() => location.href);
        is("the address says so", new URL(where).searchParams.get("ic"), "1");
        await visit(where, {}, async (again) =>
            check("and the address brings that back", await judgeSearch(again, /PARSE_header/i)));
        await clickText(page, "ignorecase");
        check("its text minds capitals again", await judgeSearch(page, /PARSE_header/));
    });
}

export async function badExpressions({ visit, url, check }) {
    const wrong = [];
    await visit(url("known"), {}, async (page) => {
        for (const bad of ["(", "[z-a]", "*x", "a**"]) {
            await search(page, bad);
            const said = (await textOf(page, "matched")).text + (await textOf(page, "details")).text;
            if (!/expression/i.test(said) || /Matched: [\d.]/.test(said))
                wrong.push(`${bad}: "${said}" is said`);
            await page.press("Escape");
            await page.press("Escape");
        }
        await search(page, "parse");
        check("a search after a bad expression works", await judgeSearch(page, /parse/));
    });
    await visit(`${url("known")}?s=(`, {}, async (page) => {
        const said = (await textOf(page, "matched")).text + (await textOf(page, "details")).text;
        if (!/expression/i.test(said))
            wrong.push(`?s=(: "${said}" is said`);
        wrong.push(...compare(await look(page), frames).wrong);
    });
    check("a bad expression is said, and nothing is thrown", wrong);
}

export async function permalinks({ visit, url, check, is }) {
    const zoom = at(frames, "app;main;serve;handle_request");
    const where = await visit(url("known"), {}, async (page) => {
        await zoomTo(page, zoom);
        await search(page, "line$|a&b\"c'd|100% a\\+b");
        return page.call(() => location.href);
    });
    is("the address has the search", new URL(where).searchParams.get("s"),
        "line$|a&b\"c'd|100% a\\+b");
    const regex = /line$|a&b"c'd|100% a\+b/;
    await visit(where, {}, async (page) => {
        check("the address opens the same zoom", await judgeZoom(page, zoom));
        check("and the same search", await judgeSearch(page, regex, zoom));
        await clickText(page, "reset");
        await page.press("Escape");
        check("which can be left", await judgeNoSearch(page));
        is("and the address is plain again", await page.call(() => location.href), url("known"));
    });
    for (const link of ["?s=parse_l.*", "#s=parse_l.*", "?s=parse%5Fl.*&unknown=1"])
        await visit(url("known") + link, {}, async (page) =>
            check(`${link} searches`, await judgeSearch(page, /parse_l.*/)));
    await visit(`${url("known")}?z=no;such;frame&x=%`, {}, async (page) =>
        check("an address of a frame that is not there shows all", await judgeZoom(page, frames[0])));
}
