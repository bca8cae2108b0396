import { run } from '../../../device/exec.ts';
import type { Paths } from '../../../device/paths.ts';
import { DepotError } from '../../../errors.ts';
import { LISTING_LIMITS } from '../../listing.ts';
import { isPackageName } from '../../names.ts';
import type { ApkCommands } from '../changing/commands.ts';
import type { Locations } from '../database/apk-locations.ts';
import { readQueried, type QueriedPackage } from './queried-package.ts';
import { assertReadable, indexFiles, readArchitectures } from './index-files.ts';
import { createObjectReader } from './json-objects.ts';
import { readMasks } from './feed-lines.ts';

/** What is needed to ask apk about its feeds. */
export interface FeedSource {
  paths: Paths;
  locations: Locations;
  commands: Pick<ApkCommands, 'apk'>;
  /** @throws DepotError unavailable that names what is damaged */
  assertSound: () => Promise<void>;
}

interface Query {
  names: readonly string[];
  /** Separated by commas. */
  fields: string;
  /** Has each package; false ends the query. */
  onPackage: (found: QueriedPackage) => boolean;
  /** `system`: with what is installed. Default: repositories. */
  from?: 'repositories' | 'system';
  /** Whether what apk printed until it failed will do; default true. */
  isPartialEnough?: boolean;
}

/**
 * What the feeds offer that this device can install.
 * @param visit has each version of each package, and the URLs of the feeds that offer it and in
 *   which it is not masked (feed-lines.ts); false ends the query
 * @throws DepotError unavailable if apk fails
 */
export async function queryOffers(
  { paths, locations, commands, assertSound }: FeedSource,
  query: Omit<Query, 'onPackage' | 'from'>,
  visit: (found: QueriedPackage, urls: readonly string[]) => boolean,
): Promise<void> {
  await assertReadable(await indexFiles(paths, locations), locations);
  const { isMasked } = await readMasks(locations);
  const accepted = new Set(await readArchitectures(paths));
  const onPackage = (found: QueriedPackage): boolean => {
    const { name, arch, repositories } = found;
    const isAccepted = accepted.size === 0 || arch === 'noarch' || accepted.has(arch);
    if (!isPackageName(name) || !isAccepted) return true;
    const open = repositories.filter((url) => !isMasked(name, url));
    return visit(found, open);
  };
  await queryFeeds(commands, { ...query, onPackage }).catch(async (error: unknown) => {
    // Damaged records keep apk from reading feeds, too, and it does not say which.
    await assertSound();
    throw error;
  });
}

const LIMITS = { timeoutMs: 60_000, maxBytes: 2 * LISTING_LIMITS.listBytes };

/**
 * What apk knows of packages in its feeds' indexes, as it prints it.
 * @throws DepotError unavailable if apk fails, unless what it has printed will do
 */
export async function queryFeeds(
  { apk }: Pick<ApkCommands, 'apk'>,
  { names, fields, onPackage, from = 'repositories', isPartialEnough = true }: Query,
): Promise<void> {
  const stopping = new AbortController();
  let count = 0;
  const reader = createObjectReader(LISTING_LIMITS.paragraphBytes, (object) => {
    if (stopping.signal.aborted) return;
    count += 1;
    if (!onPackage(readQueried(object))) stopping.abort();
  });
  const options = ['--format', 'json', '--from', from, '--all-matches', '--fields', fields];
  const command = apk('query', ...options, '--', ...names);
  const limits = { ...LIMITS, signal: stopping.signal, onStdout: reader.write };
  const { exitCode, stderr, cutShortBy } = await run(command, limits);
  reader.end();
  const isAccepted = count > 0 && (isPartialEnough || stopping.signal.aborted);
  if (exitCode !== 0 && !isAccepted) {
    const cut = cutShortBy && `apk was ended by its limit of ${cutShortBy}`;
    const said = stderr.split('\n').findLast((line) => line.trim().startsWith('ERROR:'));
    const reason = said?.trim() ?? cut ?? `exit code ${exitCode ?? 'none'}`;
    throw new DepotError('unavailable', `cannot read what the feeds offer: ${reason}`);
  }
}
