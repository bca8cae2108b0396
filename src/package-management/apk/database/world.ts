import { isVersion } from '../compare-versions.ts';
import { parseDependency, type Dependency } from './dependency.ts';
import { damagedRecord, readRecord } from './record-file.ts';

/** It has a line for each thing that its owner asked for. */
const MOST_BYTES = 1024 ** 2;

/** `/etc/apk/world`: what the device's owner wants to have (apk-world(5)). */
export interface World {
  text: string;
  entries: readonly WorldEntry[];
}

export interface WorldEntry extends Dependency {
  /** As it stands there. */
  text: string;
}

/**
 * Reads world as apk does, and refuses what apk takes without a word: an empty one, which makes its
 * next command remove the whole system.
 * @throws DepotError unavailable that names file and line
 */
export async function readWorld(file: string): Promise<World> {
  const world = parseWorld(await readRecord(file, MOST_BYTES), file);
  if (world.entries.length === 0) {
    throw damagedRecord(`cannot use ${file}: it is empty`);
  }
  return world;
}

/** Only blanks and line breaks separate: apk takes a carriage return for a letter of a name. */
export function parseWorld(text: string, file: string): World {
  const entries = text.split('\n').flatMap((line, index) =>
    line
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => {
        const dependency = parseDependency(word);
        if (dependency !== undefined && hasVersion(dependency)) {
          return { ...dependency, text: word };
        }
        throw damagedRecord(
          `cannot read ${file}: line ${index + 1}: ${shown(word)} is no dependency`,
        );
      }),
  );
  return { text, entries };
}

/** apk refuses world for a version that it cannot compare; a file's hash is none. */
function hasVersion({ operator, version }: Dependency): boolean {
  const isHash = operator.includes('<') && operator.includes('>');
  return operator === '' || isHash || isVersion(version);
}

/** What cannot be seen is written as an escape. */
function shown(word: string): string {
  return JSON.stringify(word.slice(0, 40));
}

/** In the order and form in which apk writes it. */
export function formatWorld(entries: readonly WorldEntry[]): string {
  return entries.map(({ text }) => `${text}\n`).join('');
}
