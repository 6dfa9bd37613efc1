// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// What a page shows of a picture, read from what is drawn, not from how it was made.

import { inflateSync } from "node:zlib";

// Runs in the page: everything visible, with its place in the window.
function lookAround() {
    const visible = (element) => element.checkVisibility({ visibilityProperty: true });
    const box = (element) => {
        const { x, y, width, height } = element.getBoundingClientRect();
        return { x, y, width, height };
    };
    // The part of an element that its enclosing svg lets through
    const clipped = (element) => {
        const whole = box(element), port = element.viewportElement;
        if (!port?.ownerSVGElement || getComputedStyle(port).overflow === "visible")
            return whole;
        const left = port.getScreenCTM().e, right = left + port.width.baseVal.value;
        const x = Math.max(whole.x, left);
        return { ...whole, x, width: Math.min(whole.x + whole.width, right) - x };
    };
    const opacity = (element) => {
        let product = Number(getComputedStyle(element).fillOpacity);
        for (; element; element = element.parentElement)
            product *= Number(getComputedStyle(element).opacity);
        return product;
    };
    const frames = document.getElementById("frames");
    const ownTitle = (rect) => {
        for (let e = rect; e && e !== frames; e = e.parentElement)
            for (const child of e.children)
                if (child.localName === "title")
                    return child.textContent;
        return null;
    };
    const texts = [...document.querySelectorAll("text")].filter(visible)
        .filter((text) => text.textContent.trim() && text.getBoundingClientRect().width > 0);
    const inputs = [...document.querySelectorAll("#query")].filter(visible).map((input) => ({
        ...box(input), seen: box(input), text: input.value || input.placeholder, label: false,
        fill: getComputedStyle(input, input.value ? null : "::placeholder").color, opacity: 1,
    }));
    // The input field covers what is below it.
    const covered = (text) => inputs.some((input) => {
        const { x, y, width, height } = box(text);
        const [across, down] = [x + width / 2 - input.x, y + height / 2 - input.y];
        return across > 0 && across < input.width && down > 0 && down < input.height;
    });
    return {
        width: document.documentElement.clientWidth || innerWidth,
        scrollWidth: document.documentElement.scrollWidth,
        height: document.documentElement.getBoundingClientRect().height,
        injected: window.injected !== undefined,
        boxes: frames === null ? [] : [...frames.querySelectorAll("rect")].filter(visible)
            .map((rect) => ({ ...box(rect), fill: getComputedStyle(rect).fill, title: ownTitle(rect),
                              opacity: opacity(rect) })),
        texts: inputs.concat(texts.filter((text) => !covered(text)).map((text) => ({
            ...box(text), seen: clipped(text), text: text.textContent,
            label: frames !== null && frames.contains(text),
            fill: getComputedStyle(text).fill, opacity: opacity(text),
        }))),
    };
}

// The same without what takes long in a page with many frames.
function lookAtText(id) {
    const element = document.getElementById(id);
    if (!element)
        return { text: `(there is no #${id})`, visible: false, x: 0, y: 0, width: 0, height: 0 };
    const { x, y, width, height } = element.getBoundingClientRect();
    return { text: element.textContent, x, y, width, height,
             visible: element.checkVisibility({ visibilityProperty: true }) };
}

export async function look(page) {
    const seen = await page.call(lookAround);
    // Rows are found by their position; the root's row is the one filled by a single frame.
    const lines = [...new Set(seen.boxes.map((box) => Math.round(box.y)))].sort((a, b) => b - a);
    seen.rows = lines.map((y) => seen.boxes.filter((box) => Math.abs(box.y - y) < 1)
        .sort((a, b) => a.x - b.x));
    return seen;
}

export function textOf(page, id) {
    return page.call(lookAtText, id);
}

export async function clickText(page, id) {
    const { x, y, width, height } = await textOf(page, id);
    await page.click(x + width / 2, y + height / 2);
}

export function middle(box) {
    return [box.x + box.width / 2, box.y + box.height / 2];
}

// The boxes of these frames, a Map, and what is wrong: each must be where it should be, and there
// must be no others. Zoomed: `zoom` is as wide as the window, and so are the frames below it.
export function compare(seen, frames, { zoom = frames[0], inverted = false } = {}) {
    const wrong = [], found = new Map();
    const rows = inverted ? [...seen.rows].reverse() : seen.rows;
    const whole = rows[0]?.[0];
    if (!whole)
        return { wrong: ["no frame is there"], found };
    const isBelow = (frame, other) => frame === other || (frame && isBelow(frame.parent, other));
    let expected = 0;
    for (const frame of frames) {
        const above = isBelow(zoom, frame);
        if (!above && !isBelow(frame, zoom))
            continue;
        const left = whole.x + (above ? 0 : (frame.left - zoom.left) / zoom.width * whole.width);
        const width = above ? whole.width : frame.width / zoom.width * whole.width;
        expected++;
        const row = rows[frame.depth] ?? [];
        const box = nearest(row, left);
        if (!box || Math.abs(box.x - left) > 0.5 || Math.abs(box.width - width) > 0.5)
            wrong.push(`${frame.name}: ${box ? `${box.x} +${box.width}` : "nothing"}, ` +
                `should be ${left} +${width}`);
        else
            found.set(frame, box);
    }
    if (seen.boxes.length !== expected)
        wrong.push(`${seen.boxes.length} frames, should be ${expected}`);
    return { wrong, found };
}

// Of sorted boxes, the one that begins nearest to this position.
function nearest(row, left) {
    let low = 0, high = row.length;
    while (low < high) {
        const half = (low + high) >> 1;
        if (row[half].x < left)
            low = half + 1;
        else
            high = half;
    }
    const after = row[low], before = row[low - 1];
    return !after || (before && left - before.x < after.x - left) ? before : after;
}

// What is wrong with the labels of frames: each must be in its frame, and be the name or its
// beginning. With ample room it must be there, and whole.
export function judgeLabels(seen, found) {
    const wrong = found.size ? [] : ["no frame was found"];
    const labels = seen.texts.filter((text) => text.label);
    const taken = new Set();
    for (const [frame, box] of found) {
        const label = labels.find((each) => each.y + each.height / 2 > box.y &&
            each.y + each.height / 2 < box.y + box.height &&
            each.x + 0.5 >= box.x && each.x < box.x + box.width);
        if (!label) {
            if (box.width >= 60)
                wrong.push(`${frame.name}: no label in ${box.width} px`);
            continue;
        }
        taken.add(label);
        if (label.x + label.width > box.x + box.width + 1)
            wrong.push(`${label.text}: ${label.width} px of text in ${box.width} px`);
        const cut = label.text.endsWith("..") && frame.name.startsWith(label.text.slice(0, -2));
        if (label.text !== frame.name && !cut)
            wrong.push(`${frame.name}: the label is ${label.text}`);
        if (label.text !== frame.name && box.width > 12 * frame.name.length + 12)
            wrong.push(`${frame.name}: ${label.text} in ${box.width} px`);
    }
    for (const label of labels)
        if (!taken.has(label))
            wrong.push(`${label.text}: a label without a frame`);
    return wrong;
}

// ---- Colours ----

export function rgb(color) {
    const numbers = color.match(/[\d.]+/g).map(Number);
    if (!/^rgba?\(/.test(color))
        throw new Error(`what colour is ${color}?`);
    return { parts: numbers.slice(0, 3), alpha: numbers[3] ?? 1 };
}

function luminance(parts) {
    const [r, g, b] = parts.map((part) => part / 255)
        .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(one, other) {
    const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
}

// A PNG with 8 bits per channel, not interlaced, as Chromium writes it.
function decode(png) {
    const width = png.readUInt32BE(16), height = png.readUInt32BE(20);
    const size = png[25] === 6 ? 4 : 3;
    const packed = [];
    for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at))
        if (png.toString("latin1", at + 4, at + 8) === "IDAT")
            packed.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
    const raw = inflateSync(Buffer.concat(packed));
    const stride = width * size, pixels = Buffer.alloc(stride * height);
    for (let y = 0; y < height; y++) {
        const filter = raw[y * (stride + 1)];
        for (let x = 0; x < stride; x++) {
            const left = x >= size ? pixels[y * stride + x - size] : 0;
            const up = y ? pixels[(y - 1) * stride + x] : 0;
            const corner = x >= size && y ? pixels[(y - 1) * stride + x - size] : 0;
            pixels[y * stride + x] = raw[y * (stride + 1) + 1 + x] +
                [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
        }
    }
    const at = (x, y) => [...pixels.subarray((y * width + x) * size).subarray(0, 3)];
    return { width, height, at };
}

function paeth(left, up, corner) {
    const [a, b, c] = [left, up, corner].map((each) => Math.abs(left + up - corner - each));
    return a <= b && a <= c ? left : b <= c ? up : corner;
}

// The background of a text: the colour of most of its box.
function behind(picture, box) {
    const counts = new Map();
    const right = Math.min(picture.width, Math.floor(box.x + box.width));
    const bottom = Math.min(picture.height, Math.floor(box.y + box.height));
    for (let y = Math.max(0, Math.ceil(box.y)); y < bottom; y++)
        for (let x = Math.max(0, Math.ceil(box.x)); x < right; x++) {
            const key = picture.at(x, y).join();
            counts.set(key, (counts.get(key) ?? 0) + 1);
        }
    const [most] = [...counts].sort((a, b) => b[1] - a[1]);
    return most?.[0].split(",").map(Number);
}

// The least contrast of any visible text with its background. A text's own colour is the computed
// one, weighted by its opacity.
export async function leastContrast(page) {
    const { texts } = await look(page);
    const picture = decode(await page.picture());
    let least = { ratio: Infinity, text: "(no text)" }, count = 0;
    for (const text of texts) {
        const back = behind(picture, text);
        if (!back)
            continue;
        const { parts, alpha } = rgb(text.fill);
        const share = alpha * text.opacity;
        const front = parts.map((part, i) => part * share + back[i] * (1 - share));
        const ratio = contrast(front, back);
        count++;
        if (ratio < least.ratio)
            least = { ratio, text: `${text.text}: ${front.map(Math.round)} on ${back}` };
    }
    return { ...least, count };
}
