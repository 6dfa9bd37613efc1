// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// browser.mjs DIRECTORY [CHECK...]: looks at the pictures there, which browser.sh has made of the
// stacks of truth.mjs, with one Chromium. Lines: `ok NAME`, `not ok NAME`, a tab and the reason, `info TEXT`.

import { pathToFileURL } from "node:url";
import { startBrowser } from "./chromium.mjs";
import * as shown from "./shown.mjs";
import * as moved from "./moved.mjs";
import * as searched from "./searched.mjs";
import * as legible from "./legible.mjs";
import * as kinds from "./kinds.mjs";

const [directory, ...chosen] = process.argv.slice(2);
const browser = await startBrowser(`${directory}/profile`);
const troubles = [];
let pages = 0;

const bench = {
    directory,
    url: (name) => pathToFileURL(`${directory}/${name}.svg`).href,

    // One page, open while `body` runs. Any complaint of the browser is a failure, too.
    async visit(url, options, body) {
        const page = await browser.open(url, options);
        try {
            return await body(page);
        } finally {
            pages++;
            troubles.push(...page.troubles.map((trouble) => `${url.split("/").pop()}: ${trouble}`));
            if (await page.call(() => window.injected !== undefined))
                troubles.push(`${url.split("/").pop()}: a name became a script`);
            await page.close();
        }
    },

    // A check passes if it finds nothing wrong.
    check(name, wrong) {
        const reasons = [wrong].flat().filter(Boolean);
        const more = reasons.length > 3 ? ` and ${reasons.length - 3} more` : "";
        const why = (reasons.slice(0, 3).join("; ") + more).replace(/\s+/g, " ");
        console.log(reasons.length ? `not ok ${name}\t${why}` : `ok ${name}`);
    },

    is(name, actual, expected) {
        const [is, should] = [actual, expected].map((value) => JSON.stringify(value));
        bench.check(name, is === should ? "" : `got ${is}, should be ${should}`);
    },

    info(text) {
        console.log(`info ${text}`);
    },
};

const checks = { ...shown, ...moved, ...searched, ...legible, ...kinds };
for (const [name, check] of Object.entries(checks)) {
    if (chosen.length && !chosen.includes(name))
        continue;
    try {
        await check(bench);
    } catch (error) {
        bench.check(name, error.stack);
    }
}
bench.check(`no error, dialog, request or strange script in ${pages} pages`, troubles);
await browser.close();
