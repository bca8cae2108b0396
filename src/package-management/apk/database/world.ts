import { isVersion } from '../compare-versions.ts';
import { damagedRecord, readRecord } from './record-file.ts';

/** Largest world, which has a line for each thing that its owner asked for. */
const MOST_BYTES = 1024 ** 2;

/** `/etc/apk/world`: what the device's owner wants to have (apk-world(5)). */
export interface World {
  text: string;
  entries: readonly WorldEntry[];
}

export interface WorldEntry extends Dependency {
  /** The entry as it stands in world. */
  text: string;
}

/**
 * Reads world as apk does, and refuses what apk takes without a word: an empty one, which makes its
 * next command remove the whole system.
 * @throws DepotError unavailable that names file and line
 */
export async function readWorld(file: string): Promise<World> {
  const world = parseWorld(await readRecord(file, MOST_BYTES), file);
  if (world.entries.length === 0) throw damagedRecord(`cannot use ${file}: it is empty`);
  return world;
}

/** Only blanks and line breaks separate: apk takes a carriage return for a letter of a name. */
export function parseWorld(text: string, file: string): World {
  const entries = text.split('\n').flatMap((line, index) => {
    const words = line.split(' ').filter((word) => word !== '');
    return words.map((word) => {
      const dependency = parseDependency(word);
      if (dependency !== undefined && hasVersion(dependency)) return { ...dependency, text: word };
      // What cannot be seen is written as an escape.
      const shown = JSON.stringify(word.slice(0, 40));
      throw damagedRecord(`cannot read ${file}: line ${index + 1}: ${shown} is no dependency`);
    });
  });
  return { text, entries };
}

/** apk refuses world for a version that it cannot compare; a file's hash is none. */
function hasVersion({ operator, version }: Dependency): boolean {
  return operator === '' || isHash(operator) || isVersion(version);
}

/** Text of world in the order and form in which apk writes it. */
export function formatWorld(entries: readonly WorldEntry[]): string {
  return entries.map(({ text }) => `${text}\n`).join('');
}

/** One dependency as apk writes it in world, `D:` and `p:` (apk-world(5)). */
export interface Dependency {
  name: string;
  /** `!name`: the package must not be there. */
  isConflict: boolean;
  /** Tag of a repository, behind `@`. */
  tag: string;
  /** Any of `<`, `>`, `=`, `~` in any order, `><` before a hash; empty for any version. */
  operator: string;
  version: string;
}

const DEPENDENCY = /^(!?)([^\s!<>=~@]+)(?:@([^\s<>=~]+))?(?:([<>=~]+)([^\s<>=~][^\s<>]*))?$/;

/** A power cut leaves zeros. */
const PRINTABLE = /^[!-~]+$/;

/** @returns undefined if apk would refuse it */
export function parseDependency(text: string): Dependency | undefined {
  const [, conflict = '', name, tag = '', operator = '', version = ''] =
    DEPENDENCY.exec(text) ?? [];
  return name === undefined || !PRINTABLE.test(text)
    ? undefined
    : { name, isConflict: conflict !== '', tag, operator, version };
}

/** The names in a list of dependencies, conflicts left out. */
export function namesIn(list: string): string[] {
  return list.split(' ').flatMap((text) => {
    const dependency = text === '' ? undefined : parseDependency(text);
    return dependency === undefined || dependency.isConflict ? [] : [dependency.name];
  });
}

/** Whether it keeps the package from being upgraded: to a version, a file, or below a version. */
export function isPin({ isConflict, operator, version }: Dependency): boolean {
  const isLowerBound = operator.includes('>') && !operator.includes('<');
  return !isConflict && version !== '' && operator !== '' && !isLowerBound;
}

/** Whether it is bound to one file by its hash. */
export function isHashPin({ isConflict, operator }: Dependency): boolean {
  return !isConflict && isHash(operator);
}

function isHash(operator: string): boolean {
  return operator.includes('<') && operator.includes('>');
}
