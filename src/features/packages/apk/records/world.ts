import { readFile } from 'node:fs/promises';
import { DepotError, systemCode } from '../../../../errors.ts';
import { parseDependency, type Dependency } from './dependency.ts';

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
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    const why = systemCode(error) === 'ENOENT' ? 'it is gone' : String(error);
    throw new DepotError('unavailable', `cannot read ${file}: ${why}`, { cause: error });
  });
  const world = parseWorld(text, file);
  if (world.entries.length === 0) {
    throw new DepotError('unavailable', `cannot use ${file}: it is empty`);
  }
  return world;
}

export function parseWorld(text: string, file: string): World {
  const entries = text.split('\n').flatMap((line, index) =>
    line
      .split(/\s+/)
      .filter((word) => word !== '')
      .map((word) => {
        const dependency = parseDependency(word);
        if (dependency !== undefined) return { ...dependency, text: word };
        throw new DepotError(
          'unavailable',
          `cannot read ${file}: line ${index + 1}: "${word.slice(0, 80)}" is no dependency`,
        );
      }),
  );
  return { text, entries };
}

/** In the order and form in which apk writes it. */
export function formatWorld(entries: readonly WorldEntry[]): string {
  return entries.map(({ text }) => `${text}\n`).join('');
}
