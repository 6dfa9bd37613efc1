// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// Drives a headless Chromium by the protocol of its own developer tools, over two pipes: file
// descriptors 3 and 4 of its process, on which each message is JSON and ends in a NUL. Nothing is
// needed for it but node.
//
//     const browser = await startBrowser("/tmp/profile");
//     const page = await browser.open("file:///tmp/a.svg", {width: 1200, height: 800});
//     await page.click(10, 20);
//     await page.call((id) => document.getElementById(id).textContent, "details");
//     page.troubles           every console error, exception, dialog, request: there should be none
//     await page.close();
//     await browser.close();

import { spawn } from "node:child_process";
import { mkdirSync, openSync, readFileSync } from "node:fs";

// The longest that a machine under load may take for one answer.
const PATIENCE = 120_000;

const FLAGS = [
    "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run", "--no-default-browser-check",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-extensions", "--disable-breakpad", "--mute-audio",
    "--force-color-profile=srgb", "--lang=en-US", "about:blank",
];

const KEYS = {
    Enter: { code: "Enter", windowsVirtualKeyCode: 13, text: "\r" },
    Escape: { code: "Escape", windowsVirtualKeyCode: 27 },
    F3: { code: "F3", windowsVirtualKeyCode: 114 },
    "/": { code: "Slash", windowsVirtualKeyCode: 191, text: "/" },
};

function keyEvent(key, modifiers) {
    const known = KEYS[key] ??
        { code: `Key${key.toUpperCase()}`, windowsVirtualKeyCode: key.toUpperCase().charCodeAt(0),
          text: modifiers ? undefined : key };
    return { key, modifiers, ...known };
}

class Browser {
    constructor(profile) {
        mkdirSync(profile, { recursive: true });
        this.log = `${profile}/log`;
        this.process = spawn("chromium", [`--user-data-dir=${profile}`, ...FLAGS], {
            stdio: ["ignore", "ignore", openSync(this.log, "w"), "pipe", "pipe"],
            // Whatever it writes to its home directory goes there.
            env: { ...process.env, HOME: profile, XDG_CONFIG_HOME: profile, XDG_CACHE_HOME: profile },
        });
        this.ended = new Promise((done) => this.process.on("exit", done));
        this.ended.then(() => this.failAll("chromium ended"));
        this.process.on("error", (error) => this.failAll(error.message));
        this.waiting = new Map();
        this.pages = new Map();
        this.number = 0;
        this.unread = "";
        this.process.stdio[3].on("error", () => {});
        this.process.stdio[4].setEncoding("utf8");
        this.process.stdio[4].on("data", (text) => this.read(text));
    }

    failAll(why) {
        const said = `${why}: ${readFileSync(this.log, "utf8").slice(-600)}`;
        for (const { fail } of this.waiting.values())
            fail(new Error(said));
        this.waiting.clear();
    }

    read(text) {
        const messages = (this.unread + text).split("\0");
        this.unread = messages.pop();
        for (const message of messages.map((each) => JSON.parse(each))) {
            const waiting = this.waiting.get(message.id);
            if (!waiting) {
                this.pages.get(message.sessionId)?.happened(message.method, message.params);
                continue;
            }
            this.waiting.delete(message.id);
            if (message.error)
                waiting.fail(new Error(`${waiting.method}: ${message.error.message}`));
            else
                waiting.done(message.result);
        }
    }

    send(method, params = {}, sessionId = undefined) {
        const id = ++this.number;
        return new Promise((done, fail) => {
            const timer = setTimeout(() => {
                this.waiting.delete(id);
                fail(new Error(`${method}: no answer in ${PATIENCE / 1000} s`));
            }, PATIENCE);
            const end = (how) => (value) => { clearTimeout(timer); how(value); };
            this.waiting.set(id, { method, done: end(done), fail: end(fail) });
            this.process.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
        });
    }

    // A new page, which shares nothing with others. Options: width, height, dark, scripts
    // (false: off), and `before`, a script that runs before the page's own.
    async open(url, options = {}) {
        const { browserContextId } = await this.send("Target.createBrowserContext");
        const { targetId } = await this.send("Target.createTarget",
            { url: "about:blank", browserContextId });
        const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
        const page = new Page(this, sessionId, browserContextId);
        this.pages.set(sessionId, page);
        for (const domain of ["Page", "Runtime", "Log", "Network"])
            await page.send(`${domain}.enable`);
        if (options.before)
            await page.send("Page.addScriptToEvaluateOnNewDocument", { source: options.before });
        if (options.scripts === false)
            await page.send("Emulation.setScriptExecutionDisabled", { value: true });
        await page.resize(options.width ?? 1200, options.height ?? 800);
        await page.dark(options.dark ?? false);
        await page.go(url);
        return page;
    }

    async close() {
        this.send("Browser.close").catch(() => {});
        await this.ended;
    }
}

class Page {
    constructor(browser, sessionId, context) {
        Object.assign(this, { browser, sessionId, context, troubles: [], loaded: () => {} });
    }

    send(method, params) {
        return this.browser.send(method, params, this.sessionId);
    }

    happened(method, params) {
        switch (method) {
        case "Page.loadEventFired":
            this.loaded();
            break;
        case "Page.javascriptDialogOpening":
            this.troubles.push(`dialog: ${params.type} ${params.message}`);
            this.send("Page.handleJavaScriptDialog", { accept: false }).catch(() => {});
            break;
        case "Runtime.exceptionThrown":
            this.troubles.push(`exception: ${params.exceptionDetails.text} ` +
                `${params.exceptionDetails.exception?.description ?? ""}`);
            break;
        case "Runtime.consoleAPICalled":
            this.troubles.push(`console: ${params.type} ${JSON.stringify(params.args)}`);
            break;
        case "Log.entryAdded":
            this.troubles.push(`log: ${params.entry.level} ${params.entry.text}`);
            break;
        case "Network.requestWillBeSent":
            if (params.request.url.split(/[?#]/)[0] !== this.file)
                this.troubles.push(`request: ${params.request.url}`);
            break;
        case "Network.webSocketCreated":
            this.troubles.push(`request: ${params.url}`);
            break;
        }
    }

    async go(url) {
        this.file = url.split(/[?#]/)[0];
        const loaded = new Promise((done) => { this.loaded = done; });
        const { errorText } = await this.send("Page.navigate", { url });
        if (errorText)
            throw new Error(`${url}: ${errorText}`);
        await loaded;
        await this.settled();
    }

    async resize(width, height) {
        await this.send("Emulation.setDeviceMetricsOverride",
            { width, height, deviceScaleFactor: 1, mobile: false });
        await this.settled();
    }

    async dark(on) {
        await this.send("Emulation.setEmulatedMedia",
            { features: [{ name: "prefers-color-scheme", value: on ? "dark" : "light" }] });
    }

    // The value of a function that runs in the page.
    async call(body, ...values) {
        const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
            expression: `(${body})(...${JSON.stringify(values)})`,
            returnByValue: true, awaitPromise: true,
        });
        if (exceptionDetails)
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    // Everything so far has been drawn, and callbacks that wait for that were called.
    async settled() {
        const clip = { x: 0, y: 0, width: 1, height: 1, scale: 1 };
        await this.send("Page.captureScreenshot", { clip });
    }

    // Key and mouse events are answered once the page has handled them.
    async mouse(type, x, y, more = {}) {
        await this.send("Input.dispatchMouseEvent", { type, x, y, ...more });
    }

    async move(x, y) {
        await this.mouse("mouseMoved", x, y);
    }

    async click(x, y) {
        await this.mouse("mouseMoved", x, y);
        await this.mouse("mousePressed", x, y, { button: "left", buttons: 1, clickCount: 1 });
        await this.mouse("mouseReleased", x, y, { button: "left", clickCount: 1 });
    }

    // A touch, which the browser turns into a click in its own time.
    async tap(x, y) {
        await this.send("Emulation.setTouchEmulationEnabled", { enabled: true, maxTouchPoints: 1 });
        await this.call(() => {
            window.tapped = new Promise((done) => {
                addEventListener("click", done, { once: true });
                setTimeout(done, 20_000);
            }).then(() => true);
        });
        await this.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] });
        await this.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
        await this.call(() => window.tapped);
        await this.settled();
    }

    // "Enter", "F3", "Control+f"
    async press(name) {
        const control = name.startsWith("Control+");
        const event = keyEvent(control ? name.slice(8) : name, control ? 2 : 0);
        await this.send("Input.dispatchKeyEvent",
            { type: event.text && !control ? "keyDown" : "rawKeyDown", ...event });
        await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event, text: undefined });
    }

    async type(text) {
        await this.send("Input.insertText", { text });
    }

    // A PNG of the whole window.
    async picture() {
        const { data } = await this.send("Page.captureScreenshot", { format: "png" });
        return Buffer.from(data, "base64");
    }

    async close() {
        await this.browser.send("Target.disposeBrowserContext", { browserContextId: this.context });
        this.browser.pages.delete(this.sessionId);
    }
}

export async function startBrowser(profile) {
    const browser = new Browser(profile);
    await browser.send("Browser.getVersion");
    return browser;
}
