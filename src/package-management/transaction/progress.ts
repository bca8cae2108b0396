import type { PreviewedChange } from '../preview.ts';

/**
 * What the newest preview said of a change, in bytes by package: the job that follows it says by
 * that how far it is. A job that nobody has previewed says only what it is at.
 */
export type ExpectedChanges = ReturnType<typeof createExpectedChanges>;

export function createExpectedChanges() {
  let last: { key: string; bytes: ReadonlyMap<string, number> } | undefined;
  return {
    /** @param names what the package manager is asked for */
    keep: (names: readonly string[], changes: readonly PreviewedChange[]): void => {
      const bytes = changes.map(({ name, downloadBytes, diskBytes }): [string, number] => [
        name,
        (downloadBytes ?? Math.abs(diskBytes)) + BYTES_OF_A_PACKAGE,
      ]);
      last = { key: names.join(' '), bytes: new Map(bytes) };
    },
    find: (names: readonly string[]): ReadonlyMap<string, number> | undefined =>
      last?.key === names.join(' ') ? last.bytes : undefined,
  };
}

/** What a package of few bytes weighs: its scripts take their time as well. */
const BYTES_OF_A_PACKAGE = 16 * 1024;
/** The part of a package's work that is done once its files are there and its scripts are not. */
const UNPACKED_PART = 0.75;

const SAID =
  /^(?:\((\d+)\/(\d+)\) )?(Installing|Upgrading|Configuring|Removing package) ([^\s(]+)/gm;

/**
 * Reads how much of a change is done from what opkg and apk print, 0 to 100; apk counts packages
 * itself. What was read once counts, whatever pushes it out of the end of the output.
 */
export function createPercentReader() {
  const done = new Map<string, number>();
  let counted: number | undefined;
  return (tail: string, expected: ReadonlyMap<string, number> | undefined): number | undefined => {
    for (const [, at, all, verb, name = ''] of tail.matchAll(SAID)) {
      if (all !== undefined) counted = (100 * (Number(at) - 1)) / Number(all);
      const part = verb === 'Installing' || verb === 'Upgrading' ? UNPACKED_PART : 1;
      done.set(name.replace(/\.$/, ''), part);
    }
    if (expected === undefined || expected.size === 0) return counted && Math.floor(counted);
    let [sum, whole] = [0, 0];
    for (const [name, bytes] of expected) {
      sum += bytes * (done.get(name) ?? 0);
      whole += bytes;
    }
    return Math.floor((100 * sum) / whole);
  };
}
