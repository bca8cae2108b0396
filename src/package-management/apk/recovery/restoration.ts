import { isPresent } from '../../database.ts';
import type { Restoration } from '../../manager.ts';
import { syncDisk } from '../../../device/disk/sync.ts';
import type { Installation } from '../installation.ts';
import { readHashes } from '../database/installed-db.ts';
import { editWorld, withoutPin } from '../database/world-edit.ts';
import { isHashPin, parseWorld, readWorld, type WorldEntry } from '../database/world.ts';

/**
 * Puts packages back with apk. A file that is added is pinned in world, also if the package was
 * there as a dependency alone: what stood in world comes back with the package.
 */
export function createRestoration(installation: Installation): Restoration {
  const { commands, locations, environment, reader } = installation;
  return {
    recordsOf: async (names) => {
      const { entries } = await readWorld(locations.world);
      const textOf = (name: string): string => {
        const own = entries.filter((entry) => entry.name === name);
        return own.map(({ text }) => text).join('\n');
      };
      return new Map(names.map((name) => [name, textOf(name)]));
    },
    installFiles: (files) => Promise.resolve(commands.addFiles(files)),
    installOffered: (offers) =>
      commands.install(offers.map(({ name, version }) => `${name}=${version}`)),
    finish: async (records) => {
      const database = await reader.read();
      const present = [...database.values()].filter(isPresent);
      const names = [...records.keys()].filter((wanted) =>
        present.some(({ name, provides }) => name === wanted || provides.includes(wanted)),
      );
      const former = names.flatMap((name) => parseWorld(records.get(name) ?? '', 'world').entries);
      const hashes = await readHashes(locations.installed);
      await editWorld(locations, environment, (entries) => [
        ...entries.filter(({ name }) => !names.includes(name)),
        ...former.map((entry) => rebound(entry, hashes)),
      ]);
      await syncDisk(environment, [installation.root]);
    },
  };
}

/**
 * A pin to a package file is one to its very bytes, and a packed one has others: it is bound to
 * what is there now.
 */
function rebound(entry: WorldEntry, hashes: ReadonlyMap<string, string>): WorldEntry {
  if (!isHashPin(entry)) return entry;
  const version = hashes.get(entry.name) ?? '';
  if (version === '') return withoutPin(entry);
  return { ...entry, version, text: entry.text.replace(entry.version, version) };
}
