// SPDX-License-Identifier: MIT OR GPL-2.0-only
// A flame graph's script: zoom, search and descriptions of frames. Zoom and search are in the URL.
(function (data) {
    "use strict";
    const svg = (document.currentScript || document.documentElement).closest("svg");
    const find = id => svg.querySelector("#" + id);
    const frames = [], byElement = new Map();
    const details = find("details"), matched = find("matched"), query = find("query");
    let all, zoomed, searched = "", ignoring = false;

    // ---- Texts ----

    const canvas = document.createElementNS("http://www.w3.org/1999/xhtml", "canvas");
    const ruler = canvas.getContext("2d");
    const widths = new Map();
    ruler.font = "12px " + getComputedStyle(svg).fontFamily;

    function widthOf(text) {
        if (!widths.has(text))
            widths.set(text, ruler.measureText(text).width);
        return widths.get(text);
    }

    // Cuts a text to the room; returns nothing if fewer than three letters fit.
    function fit(text, room) {
        if (room < 18 || widthOf(text) <= room)
            return room < 18 ? "" : text;
        let length = Math.ceil(text.length * room / widthOf(text)) + 2;
        while (length > 2 && ruler.measureText(text.slice(0, length) + "..").width > room)
            length--;
        return length > 2 ? text.slice(0, length).replace(/[\ud800-\udbff]$/, "") + ".." : "";
    }

    const percent = (value, whole) => (value * 100 / whole).toFixed(2) + " %";

    function change(frame) {
        const grown = (frame.value - frame.before) * 100 / all.value;
        return (grown > -0.005 ? "+" : "") + (Math.abs(grown) < 0.005 ? 0 : grown).toFixed(2) + "%";
    }

    const isWithin = (frame, below) => frame.index >= below.index && frame.index < below.end;

    function numbersOf(frame) {
        const value = String(frame.value).replace(/\B(?=(\d{3})+$)/g, ",");
        const parts = [value + " " + data.unit, percent(frame.value, all.value)];
        if (data.numbers > 3)
            parts.push(change(frame));
        if (zoomed !== all && isWithin(frame, zoomed))
            parts.push(percent(frame.value, zoomed.value) + " of the zoom");
        return " (" + parts.join(", ") + ")";
    }

    const innerWidth = () => svg.getBoundingClientRect().width * 0.98;

    function show(frame) {
        const numbers = frame ? numbersOf(frame) : " ";
        details.textContent = frame
            ? fit(frame.name, Math.max(innerWidth() - widthOf(numbers), 60)) + numbers : numbers;
    }

    // ---- Frames ----

    // The elements and the numbers are in the same order: each frame before those on top of it.
    function read() {
        const open = [], next = [0];
        const leave = (depth, index) => open.splice(depth).forEach(frame => frame.end = index);
        let at = 0;
        for (const element of find("frames").children) {
            const [name, depth, value, before] = data.frames.slice(at, at += data.numbers);
            const frame = {element, name: data.names[name], value, before, index: frames.length};
            const group = element.tagName === "g";
            frame.box = group ? element.querySelector("svg") : element;
            frame.label = group ? element.querySelector("text") : null;
            frame.start = next[depth];
            next[depth] += value;
            next[depth + 1] = frame.start;
            // Two siblings of the same name, but of different kinds, are adjacent.
            const twin = open[depth];
            frame.twin = twin && twin.name === frame.name ? twin.twin + 1 : 0;
            leave(depth, frame.index);
            open[depth] = frame;
            frames.push(frame);
            byElement.set(element, frame);
        }
        leave(0, frames.length);
        all = zoomed = frames[0];
        frames.forEach(frame => frame.share = frame.value / all.value);
    }

    // Gives a frame that was too narrow for its name the same elements as labelled frames have.
    function addLabel(frame) {
        const make = name => document.createElementNS(svg.namespaceURI, name);
        const rect = frame.element, group = make("g"), box = make("svg"), label = make("text");
        group.setAttribute("class", "frame " + (rect.getAttribute("class") || ""));
        rect.removeAttribute("class");
        for (const name of ["x", "y", "width", "height"]) {
            box.setAttribute(name, rect.getAttribute(name));
            rect.removeAttribute(name);
        }
        rect.setAttribute("width", "100%");
        rect.setAttribute("height", "100%");
        label.setAttribute("x", 3);
        label.setAttribute("y", 11.5);
        rect.replaceWith(group);
        group.append(...rect.children, box);
        box.append(rect, label);
        byElement.set(group, frame);
        Object.assign(frame, {element: group, box, label});
    }

    function place(frame, left, share) {
        frame.share = share;
        frame.box.setAttribute("x", left * 100 + "%");
        frame.box.setAttribute("width", share * 100 + "%");
    }

    function addLabels() {
        const width = innerWidth();
        for (const frame of frames) {
            if (frame.hidden)
                continue;
            const text = fit(frame.name, width * frame.share - 6);
            if (text && !frame.label)
                addLabel(frame);
            if (frame.label && frame.label.textContent !== text)
                frame.label.textContent = text;
        }
        for (const line of svg.querySelectorAll("#title, #subtitle > *, #vanished > *")) {
            line.full = line.full || line.textContent;
            line.textContent = fit(line.full, line.id ? width * 12 / 17 : width);
        }
    }

    // Makes the frame and those below it as wide as the picture, and hides those beside it.
    function zoom(target) {
        zoomed = target;
        for (const frame of frames) {
            const above = isWithin(frame, target), below = !above && isWithin(target, frame);
            frame.hidden = !above && !below;
            frame.element.classList.toggle("hide", frame.hidden);
            frame.element.classList.toggle("up", below);
            if (below)
                place(frame, 0, 1);
            else if (above)
                place(frame, (frame.start - target.start) / target.value,
                    frame.value / target.value);
        }
        find("reset").classList.toggle("off", target === all);
        addLabels();
        sumUp();
        remember();
    }

    // ---- Search ----

    // Adds up matches without the frames on top of them, which are part of them.
    function sumUp() {
        let sum = 0, from = zoomed.index;
        for (let i = from; i < zoomed.end; i++)
            if (i >= from && frames[i].hit) {
                sum += frames[i].value;
                from = frames[i].end;
            }
        tell(searched ? "Matched: " + (sum * 100 / zoomed.value).toFixed(1) + "%" : "");
    }

    function tell(text) {
        matched.textContent = text;
        matched.classList.toggle("off", !text);
    }

    // An empty text ends a search.
    function search(text) {
        let expression = null, wrong = false;
        try {
            expression = text && new RegExp(text, ignoring ? "i" : "");
        } catch (error) {
            wrong = true;
        }
        searched = wrong ? "" : text;
        const hits = data.names.map(name => Boolean(expression) && expression.test(name));
        frames.forEach((frame, i) => {
            frame.hit = hits[data.frames[i * data.numbers]];
            frame.element.classList.toggle("hit", frame.hit);
        });
        find("search").textContent = searched ? "Reset Search" : "Search";
        sumUp();
        if (wrong)
            tell(fit("Not a regular expression: " + text, innerWidth() - 250));
        remember();
    }

    function ask(open) {
        find("ask").classList.toggle("off", !open);
        query.value = "";
        sumUp();
        if (open)
            query.focus();
        else
            query.blur();
    }

    const askOrReset = () => searched ? search("") : ask(true);

    function toggleCase() {
        ignoring = !ignoring;
        find("ignorecase").classList.toggle("on", ignoring);
        search(searched);
    }

    // ---- URL: ?s=expression&ic=1&z=names;of;the;path ----

    const step = frame =>
        frame.name.replace(/[\\;]/g, "\\$&") + (frame.twin ? "\\" + frame.twin : "");

    function remember() {
        const path = frames.filter(frame => frame !== all && isWithin(zoomed, frame)).map(step);
        try {
            const words = location.search.slice(1).split("&")
                .filter(word => word && !/^(s|ic|z)=/.test(word));
            if (searched)
                words.push("s=" + encodeURIComponent(searched));
            if (ignoring)
                words.push("ic=1");
            if (path.length)
                words.push("z=" + encodeURIComponent(path.join(";")));
            const state = words.join("&");
            history.replaceState(null, "", state ? "?" + state : location.pathname);
        } catch (error) {
            // The page may not change its URL: the rest works without that.
        }
    }

    // Follows the path up as far as its frames exist.
    function follow(path) {
        let at = all;
        for (const word of path.match(/(\\.|[^\\;])+/g) || []) {
            let child = frames[at.index + 1];
            while (child && child.index < at.end && step(child) !== word)
                child = frames[child.end];
            if (child && child.index < at.end)
                at = child;
            else if (at !== all || word !== all.name)
                break;
        }
        return at;
    }

    function recall() {
        const words = (location.search + "&" + location.hash).split(/[?#&]/);
        const get = key => {
            const word = words.find(each => each.startsWith(key + "=")) || "";
            try {
                return decodeURIComponent(word.slice(key.length + 1));
            } catch (error) {
                return "";
            }
        };
        const text = get("s"), path = get("z");
        ignoring = get("ic") === "1";
        find("ignorecase").classList.toggle("on", ignoring);
        if (text)
            search(text);
        if (path)
            zoom(follow(path));
    }

    // ---- Events ----

    const frameOf = event => byElement.get(event.target.closest("#frames > *"));

    function point(event) {
        const frame = frameOf(event);
        if (!frame)
            return;
        const title = frame.element.querySelector("title") ||
            document.createElementNS(svg.namespaceURI, "title");
        title.textContent = frame.name + numbersOf(frame);
        frame.element.prepend(title);
        show(frame);
    }

    function press(event) {
        const held = event.ctrlKey || event.metaKey, key = (event.key || "").toLowerCase();
        const typing = event.target === query;
        // With more modifier keys, the shortcut is the browser's.
        const control = held && !event.shiftKey && !event.altKey;
        if (key === "f3" || (control && key === "f") || (key === "/" && !typing && !held)) {
            if (!typing)
                askOrReset();
        } else if (control && key === "i") {
            toggleCase();
        } else if (key === "escape") {
            if (typing)
                ask(false);
            else if (searched)
                search("");
            else
                zoom(all);
        } else if (key === "enter" && typing && !event.isComposing) {
            const text = query.value;
            ask(false);
            search(text);
        } else {
            return;
        }
        event.preventDefault();
    }

    read();
    svg.classList.add("live");
    addLabels();
    recall();
    // In a tall picture, scrolls to the root, where reading begins.
    if (document.documentElement === svg)
        all.element.scrollIntoView({block: "nearest"});
    find("frames").addEventListener("mouseover", point);
    find("frames").addEventListener("mouseleave", () => show(null));
    find("frames").addEventListener("click", event => {
        const frame = frameOf(event);
        if (frame) {
            zoom(frame);
            point(event);
        }
    });
    find("reset").addEventListener("click", () => zoom(all));
    find("search").addEventListener("click", askOrReset);
    find("ignorecase").addEventListener("click", toggleCase);
    addEventListener("keydown", press);
    addEventListener("resize", addLabels);
})
