import * as path from 'node:path';

/** A path that has, behind its first character, an empty name, `.` or `..`, or ends in a stroke. */
const TO_NORMALIZE = /\/\/|(?:^|\/)\.{0,2}(?:\/|$)/;

/**
 * What the build puts in the place of Node's functions of these names, which go through a path
 * character by character: the hundred paths of a start would be enough for V8 on Node 22 and 24 to
 * load an optimizing compiler. Each returns what Node's does.
 */
export function join(...names: string[]): string {
  const joined = names.reduce(besides, '');
  return names[0] === '' || !isNormal(joined) ? path.join(...names) : joined;
}

/** Joins with one slash in between; paths that are joined to the device's root begin with one. */
function besides(before: string, name: string): string {
  if (before === '') return name;
  const stroke = before.endsWith('/') ? '' : '/';
  return before + stroke + (name.startsWith('/') ? name.slice(1) : name);
}

export function normalize(name: string): string {
  return isNormal(name) ? name : path.normalize(name);
}

export function resolve(...names: string[]): string {
  const last = names.at(-1) ?? '';
  return isAbsolute(last) ? last : path.resolve(...names);
}

export function relative(from: string, to: string): string {
  const isBelow = isAbsolute(from) && isAbsolute(to) && `${to}/`.startsWith(`${from}/`);
  return isBelow ? to.slice(from.length + 1) : path.relative(from, to);
}

function isNormal(name: string): boolean {
  return name !== '' && !TO_NORMALIZE.test(name.slice(1));
}

/** Whether the path is absolute and already normal; the root itself does not count. */
function isAbsolute(name: string): boolean {
  return name.startsWith('/') && isNormal(name);
}
