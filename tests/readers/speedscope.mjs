// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// speedscope.mjs PACKAGE FILE: what speedscope's own importer makes of a file. PACKAGE is speedscope as
// it comes from npm. Prints, with tabs in between:
//
//     group    NAME  INDEX  COUNT      what is shown first, and how many profiles there are
//     profile  INDEX NAME UNIT TOTAL
//     frame    INDEX NAME FILE SELF TOTAL
//     stack    INDEX FRAME;FRAME;... WEIGHT    equal ones are one
//
// The package has no importer to call, only the page's bundle. That runs here without a page:
// whatever it asks of a browser does nothing, and drawing fails; but by then the importer is there,
// under the name by which the page itself calls it.
import fs from 'node:fs'
import path from 'node:path'
import vm from 'node:vm'

const [release, file] = [path.join(process.argv[2], 'dist/release'), process.argv[3]]
const page = fs.readFileSync(path.join(release, 'index.html'), 'utf8')
const bundle = fs.readFileSync(path.join(release, /<script src="([^"]+)"/.exec(page)[1]), 'utf8')
const call = /loadFileFromBase64:\((\w+),(\w+)\)=>\{this\.loadProfile\(\(\)=>([\w$]+)\(\1,\2\)\)/.exec(bundle)
const start = /^"use strict";\(\(\)=>\{/.exec(bundle)
if (!call || !start) {
    console.error('this release of speedscope is built in another way than the test knows')
    process.exit(77)
}

// Any property of it is itself.
const nothing = new Proxy(function () {}, {
    get: (target, key) => key === Symbol.toPrimitive ? () => '' : nothing,
    apply: () => nothing,
    construct: () => nothing,
    set: () => true,
})
const quiet = {log() {}, error() {}, warn() {}, time() {}, timeEnd() {}}
const world = {
    console: quiet, TextDecoder, TextEncoder, atob, btoa, setTimeout, clearTimeout, performance, URL, Blob,
    document: nothing, navigator: nothing, matchMedia: () => nothing, addEventListener() {},
    requestAnimationFrame() {}, location: {hash: '', protocol: 'file:', href: 'file:///'},
}
world.window = world.self = vm.createContext(world)
try {
    vm.runInContext(start[0] + `globalThis.importer=(...given)=>${call[3]}(...given);` +
        bundle.slice(start[0].length), world)
} catch {
    // It cannot draw.
}

const content = fs.readFileSync(file).toString('base64')
const group = await world.importer(path.basename(file), content)
if (!group) {
    console.error('speedscope does not know what this file is')
    process.exit(1)
}
const lines = [['group', group.name, group.indexToView, group.profiles.length]]
group.profiles.forEach((profile, index) => {
    lines.push(['profile', index, profile.getName(), profile.getWeightUnit(), profile.getTotalWeight()])
    profile.forEachFrame(frame => lines.push(
        ['frame', index, frame.name, frame.file ?? '', frame.getSelfWeight(), frame.getTotalWeight()]))
    const weights = new Map(), open = []
    let before = 0
    // Time that passes belongs to the open stack.
    const until = at => {
        const stack = open.join(';')
        if (at > before)
            weights.set(stack, (weights.get(stack) ?? 0) + at - before)
        before = at
    }
    profile.forEachCall((node, at) => (until(at), open.push(node.frame.name)),
                        (node, at) => (until(at), open.pop()))
    for (const [stack, weight] of weights)
        lines.push(['stack', index, stack, weight])
})
process.stdout.write(lines.map(line => line.join('\t') + '\n').join(''))
