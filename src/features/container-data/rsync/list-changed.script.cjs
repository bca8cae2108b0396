'use strict';
// MARKER: lists what changed after a file did, from the working folder down and on its disk, for
// devices whose find cannot ask for the time of the last change of anything (busybox).
const { lstatSync, readdirSync, statSync, writeSync } = require('node:fs');

const [, marker] = process.argv;
const since = statSync(marker, { bigint: true }).mtimeNs;
const print = (path) => writeSync(1, Buffer.concat([path, Buffer.from('\0')]));
const { dev, ctimeNs } = lstatSync('.', { bigint: true });
if (ctimeNs > since) print(Buffer.from('.'));
const walk = (folder) => {
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    const path = Buffer.concat([folder, Buffer.from('/'), name]);
    const entry = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (entry?.dev !== dev) continue;
    if (entry.ctimeNs > since) print(path);
    if (entry.isDirectory()) walk(path);
  }
};
walk(Buffer.from('.'));
