// SPDX-License-Identifier: MIT OR GPL-2.0-only
//
// A profile store as Pyroscope's documentation describes POST /ingest, on this machine alone:
//     node store.mjs DIRECTORY
// prints its port, then a line for each request. DIRECTORY/mode says how it behaves: ok, refuse
// (503), bad (400), hang, break (hangs up in the middle of the body), deny (401 without the token).
// A wrong request gets 400 and the reason. Accepted profiles are DIRECTORY/N.pb.gz.
import { createServer } from 'node:http';
import { readFileSync, writeFileSync } from 'node:fs';

const directory = process.argv[2];
let taken = 0;

function problem(request, url, body)
{
    if (request.method !== 'POST' || url.pathname !== '/ingest')
        return 'not POST /ingest';
    for (const name of ['name', 'from', 'until', 'format'])
        if (!url.searchParams.get(name))
            return `no ${name}`;
    const folded = url.searchParams.get('format') === 'folded';
    if (!folded && url.searchParams.get('format') !== 'pprof')
        return 'format';
    const from = Number(url.searchParams.get('from')), until = Number(url.searchParams.get('until'));
    if (!(Number.isInteger(from) && until > from && until <= Date.now() / 1000 + 2))
        return `times ${from} ${until}`;
    if (!/^[\w.:/-]+\{\w+=[\w.:/-]+(,\w+=[\w.:/-]+)*\}$/.test(url.searchParams.get('name')))
        return 'name';
    if (folded) {
        writeFileSync(`${directory}/${taken + 1}.folded`, body);
        return /^(.+ \d+\n)*$/.test(body.toString('latin1')) ? '' : 'not folded';
    }
    const type = /^multipart\/form-data; boundary=([\w-]+)$/.exec(request.headers['content-type']);
    if (!type)
        return 'content type';
    const text = body.toString('latin1');
    const begin = text.indexOf('\r\n\r\n') + 4, end = text.lastIndexOf(`\r\n--${type[1]}--\r\n`);
    if (!text.startsWith(`--${type[1]}\r\n`) || begin < 4 || end < begin)
        return 'no multipart body';
    if (!/^content-disposition: form-data;.* name="profile"/im.test(text.slice(0, begin)))
        return 'no field "profile"';
    writeFileSync(`${directory}/${taken + 1}.pb.gz`, body.subarray(begin, end));
    return '';
}

const server = createServer((request, response) => {
    const mode = readFileSync(`${directory}/mode`, 'utf8').trim();
    const url = new URL(request.url, 'http://store');
    const pieces = [];

    if (mode === 'hang')
        return void console.log('hang');
    if (mode === 'break')
        request.once('data', () => { console.log('break'); request.socket.destroy(); });
    request.on('data', piece => pieces.push(piece));
    request.on('error', () => {});
    request.on('end', () => {
        if (mode === 'break')
            return;
        const denied = mode === 'deny' && request.headers.authorization !== 'Bearer let.me-in';
        const why = mode === 'bad' ? 'bad' : problem(request, url, Buffer.concat(pieces));
        const status = denied ? 401 : mode === 'refuse' ? 503 : why ? 400 : 200;
        if (status === 200)
            taken++;
        console.log(status, why || url.searchParams.get('name'), url.searchParams.get('from'));
        response.writeHead(status).end();
    });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
