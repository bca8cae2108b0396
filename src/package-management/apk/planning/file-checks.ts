import { join } from 'node:path';
import { hasEntry } from '../../../device/is-there.ts';
import type { DepotError } from '../../../errors.ts';
import { failureError } from '../../failure.ts';
import { listNames } from '../../names.ts';
import type { PackageContent } from '../package-file/apk-file.ts';
import { isEssential } from '../database/database.ts';
import { readFilesOf, readInstalled, type InstalledRecord } from '../database/installed-db.ts';
import type { Locations } from '../database/apk-locations.ts';
import type { PlannedChange } from './simulation.ts';

/**
 * Refuses what apk does without a word: a package that is installed anew takes over a file of
 * another one of its origin, and removes it when it goes; and one that says `replaces` takes a file
 * of what the device cannot do without. Any other file of another package apk leaves alone, and the
 * job fails. Upgrades share and move files, as their packages' makers meant it.
 * @throws DepotError command_failed that names the file and its owner
 */
export async function checkClashes(
  purpose: string,
  contents: readonly PackageContent[],
  { changes, locations }: { changes: readonly PlannedChange[]; locations: Locations },
): Promise<void> {
  const isNew = new Set(
    changes.flatMap(({ action, name }) => (action === 'Installing' ? [name] : [])),
  );
  const mayShare = (taker: Owner, owner: Owner): boolean => {
    if (isEssential(owner.name) && !isEssential(taker.name)) return false;
    if (!isNew.has(taker.name) || taker.origin === '' || taker.origin !== owner.origin) return true;
    return taker.replaces.includes(owner.name) || owner.replaces.includes(taker.name);
  };
  const owners = new Map<string, PackageContent>();
  for (const content of contents) {
    for (const file of content.files) {
      const other = owners.get(file);
      if (other === undefined) owners.set(file, content);
      else if (!mayShare(content, other) || !mayShare(other, content)) {
        throw clash(purpose, { file, content, owner: other.name });
      }
    }
  }
  const changed = new Set(changes.map(({ name }) => name));
  const found: { file: string; content: PackageContent; owner: string }[] = [];
  const records = await readInstalled(locations.installed, {
    filesOf: (name) => !changed.has(name),
    onFile: ({ path }, owner) => {
      const content = owners.get(path);
      if (content !== undefined) found.push({ file: path, content, owner });
    },
  });
  const real = found.find(({ content, owner }) => {
    const record = records.get(owner);
    return record !== undefined && !mayShare(content, record);
  });
  if (real !== undefined) throw clash(purpose, real);
}

type Owner = Pick<InstalledRecord, 'name' | 'origin' | 'replaces'>;

function clash(
  purpose: string,
  { file, content, owner }: { file: string; content: PackageContent; owner: string },
): DepotError {
  return failureError(purpose, {
    code: 'file_conflict',
    package: content.name,
    reason: `${content.name} would take over /${file}, which belongs to ${owner}`,
    remedy: isEssential(owner)
      ? `Do not install ${content.name}: the device cannot do without ${owner}.`
      : `Remove ${owner}, which owns the file, then try again.`,
  });
}

/** Files of a package that are not there: what a cut-off installation may leave. */
export async function findAbsent(root: string, files: readonly string[]): Promise<string[]> {
  const isThere = await Promise.all(files.map((file) => hasEntry(join(root, file))));
  return files.filter((_, index) => isThere[index] !== true);
}

/**
 * Refuses the file of a package that the device cannot do without, if it lacks files that the
 * installed one has: a file wins over any version (docs/reference/apk.md), and apk removes what it
 * lacks. What else the job brings may have them.
 * @param own the package in the file; one of a feed may do without files
 * @throws DepotError command_failed that names the files
 */
export async function checkEssential(
  purpose: string,
  contents: readonly PackageContent[],
  { own, locations }: { own: string | undefined; locations: Locations },
): Promise<void> {
  if (own === undefined || !isEssential(own)) return;
  const brought = new Set(contents.flatMap(({ files }) => files));
  const { files } = await readFilesOf(locations.installed, (name) => name === own);
  const lost = files
    .filter(({ path }) => !brought.has(path) && !path.startsWith(LISTS))
    .map(({ path }) => `/${path}`);
  if (lost.length === 0) return;
  const named = listNames(lost, MOST_FILES);
  throw failureError(purpose, {
    code: 'essential',
    package: own,
    reason: `the file lacks ${named} of the ${own} that is installed, and the device needs it`,
    remedy: `Keep the ${own} that is installed, or send a file of it that has all of these.`,
  });
}

/** What packages tell of themselves; nothing is run from there. */
const LISTS = 'lib/apk/packages/';
const MOST_FILES = 4;
