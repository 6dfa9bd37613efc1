// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// picture.mjs FILE.svg OUT.png WIDTH HEIGHT [dark]: what Chromium shows of a file in such a window

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { tmpdir } from "node:os";
import { pathToFileURL } from "node:url";
import { startBrowser } from "./chromium.mjs";

const [file, out, width, height, dark] = process.argv.slice(2);
if (!(Number(height) > 0) || (dark && dark !== "dark")) {
    console.error("usage: picture.mjs FILE.svg OUT.png WIDTH HEIGHT [dark]");
    process.exit(2);
}
const profile = mkdtempSync(`${tmpdir()}/picture.`);
try {
    const browser = await startBrowser(profile);
    const page = await browser.open(pathToFileURL(resolve(file)).href,
        { width: Number(width), height: Number(height), dark: dark === "dark" });
    writeFileSync(out, await page.picture());
    await browser.close();
} finally {
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
}
