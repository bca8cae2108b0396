import { failureError } from '../../failure.ts';
import type { PackageContent } from '../package-file/apk-file.ts';
import { isEssential } from '../database/database.ts';
import { readInstalled } from '../database/installed-db.ts';
import type { Locations } from '../database/locations.ts';

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
  const lost: string[] = [];
  await readInstalled(locations.installed, {
    filesOf: (name) => name === own,
    onFile: ({ path }) => {
      if (!brought.has(path) && !path.startsWith(LISTS)) lost.push(`/${path}`);
    },
  });
  if (lost.length === 0) return;
  const more = lost.length - MOST_FILES;
  const named = lost.slice(0, MOST_FILES).join(', ') + (more > 0 ? ` and ${more} more` : '');
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
