'use strict';
// MARKER rsync OPTION…: lists what changed after a file did, from the working folder down and on
// its disk, without what rsync leaves out, for devices whose find cannot ask for the time of the
// last change of anything (busybox).
const { lstatSync, readdirSync, statSync, writeSync } = require('node:fs');

const [, marker, ...options] = process.argv;
const leftOut = options
  .filter((option) => option.startsWith('--exclude=/'))
  .map((option) => Buffer.from(option.replace('--exclude=', '.')));
const isLeftOut = (path) =>
  leftOut.some((name) =>
    name.at(-1) === 0x2a
      ? path.subarray(0, name.length - 1).equals(name.subarray(0, -1))
      : path.equals(name),
  );
const since = statSync(marker, { bigint: true }).mtimeNs;
const print = (path) => writeSync(1, Buffer.concat([path, Buffer.from('\0')]));
const { dev, ctimeNs } = lstatSync('.', { bigint: true });
if (ctimeNs > since) print(Buffer.from('.'));
const walk = (folder) => {
  for (const name of readdirSync(folder, { encoding: 'buffer' })) {
    const path = Buffer.concat([folder, Buffer.from('/'), name]);
    if (isLeftOut(path)) continue;
    const entry = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (entry?.dev !== dev) continue;
    if (entry.ctimeNs > since) print(path);
    if (entry.isDirectory()) walk(path);
  }
};
walk(Buffer.from('.'));
