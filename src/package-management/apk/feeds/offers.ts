import * as v from 'valibot';
import { fileVersionSync } from '../../../device/file-version.ts';
import { readSmallFile } from '../../../device/owner-file.ts';
import type { Paths } from '../../../device/paths.ts';
import type { DepotError } from '../../../errors.ts';
import { failureError } from '../../failure.ts';
import { isPackageName } from '../../names.ts';
import type { Offer } from '../../manager.ts';
import type { ApkCommands } from '../changing/commands.ts';
import { compareVersions } from '../compare-versions.ts';
import { assertEnding, feedFiles, indexFiles } from './index-files.ts';
import { queryFeeds } from './query.ts';
import { readMasks } from './masks.ts';
import type { Locations } from '../database/locations.ts';

/** With what it takes, in bytes. */
export interface ApkOffer extends Offer {
  downloadBytes: number;
  installedBytes: number;
}

const queried = v.object({
  name: v.string(),
  version: v.string(),
  arch: v.optional(v.string(), 'noarch'),
  'file-size': v.optional(v.number(), 0),
  'installed-size': v.optional(v.number(), 0),
  repositories: v.optional(v.array(v.string()), []),
});
const FIELDS = 'name,version,arch,file-size,installed-size';

/** A change asks for hundreds of names, of which feeds have a few versions each. */
const MOST_OFFERS = 20_000;
/** Names that are remembered. */
const MOST_KNOWN = 5000;

/**
 * What the feeds offer. Their indexes are databases of apk's own kind, so apk reads them: of the
 * names that are asked for, since a feed may have more than the daemon has room for, and once for
 * each change of an index, of the list of feeds, or of the architectures. It takes no lock for
 * that. One query at a time: what it finds, callers that waited need not ask for. What is masked
 * (masks.ts) is no offer.
 */
export function createOffers(
  paths: Paths,
  locations: Locations,
  commands: Pick<ApkCommands, 'apk'>,
): Offers {
  let version = '';
  let known = new Map<string, FoundOffers>();
  let last: Promise<unknown> = Promise.resolve();
  const learn = async (names: readonly string[]): Promise<typeof known> => {
    const current = await indexVersion(paths, locations);
    if (current !== version || known.size > MOST_KNOWN) known = new Map();
    version = current;
    const unknown = names.filter((name) => isPackageName(name) && !known.has(name));
    if (unknown.length === 0) return known;
    for (const [name, found] of await query({ paths, locations, commands }, unknown)) {
      known.set(name, found);
    }
    return known;
  };
  return async (names, { withMasked = false } = {}) => {
    const learnt = last.then(() => learn(names));
    // A failure is not remembered.
    last = learnt.catch(() => undefined);
    const found = await learnt;
    return new Map(
      names.flatMap((name) => {
        const versions = found.get(name)?.[withMasked ? 'all' : 'open'] ?? [];
        return versions.length === 0 ? [] : [[name, versions]];
      }),
    );
  };
}

/** By name, the best first. `apk fetch` takes what is masked, too. */
export type Offers = (
  names: readonly string[],
  options?: { withMasked?: boolean },
) => Promise<Map<string, ApkOffer[]>>;

interface FoundOffers {
  open: ApkOffer[];
  all: ApkOffer[];
}

async function query(
  {
    paths,
    locations,
    commands,
  }: { paths: Paths; locations: Locations; commands: Pick<ApkCommands, 'apk'> },
  names: readonly string[],
): Promise<Map<string, FoundOffers>> {
  assertEnding(await indexFiles(paths, locations));
  const { isAny, isMasked } = await readMasks(locations);
  const accepted = new Set([...(await readArchitectures(paths)), 'noarch']);
  const offers = new Map<string, FoundOffers>(names.map((name) => [name, { open: [], all: [] }]));
  let count = 0;
  const onObject = (object: unknown): boolean => {
    const { success, output } = v.safeParse(queried, object);
    const found = success ? offers.get(output.name) : undefined;
    if (!success || found === undefined) return true;
    const { name, version, arch } = output;
    if (accepted.size > 1 && !accepted.has(arch)) return true;
    const offer = {
      name,
      version,
      downloadBytes: output['file-size'],
      installedBytes: output['installed-size'],
    };
    found.all.push(offer);
    const isOpen = !isAny || !output.repositories.every((url) => isMasked(name, url));
    if (isOpen) found.open.push(offer);
    count += 1;
    return count < MOST_OFFERS;
  };
  const fields = isAny ? `${FIELDS},repositories` : FIELDS;
  await queryFeeds(commands, { names, fields, onObject, isPartialEnough: false });
  if (count >= MOST_OFFERS) throw tooMany(names, offers);
  for (const { open, all } of offers.values()) {
    open.sort((a, b) => compareVersions(b.version, a.version));
    all.sort((a, b) => compareVersions(b.version, a.version));
  }
  return offers;
}

function tooMany(names: readonly string[], offers: ReadonlyMap<string, FoundOffers>): DepotError {
  const countOf = (name: string): number => offers.get(name)?.all.length ?? 0;
  const most = names.reduce((a, b) => (countOf(b) > countOf(a) ? b : a), names[0] ?? '');
  const count = countOf(most).toLocaleString('en');
  const reason = `the feeds offer too much: ${count} versions of ${most} alone`;
  return failureError('read what the feeds offer', { code: 'plan_too_large', reason });
}

const MOST_ARCHITECTURES_BYTES = 64 * 1024;

/** `/etc/apk/arch`, the preferred one first. */
export async function readArchitectures({ onDevice }: Pick<Paths, 'onDevice'>): Promise<string[]> {
  const text = (await readSmallFile(onDevice('/etc/apk/arch'), MOST_ARCHITECTURES_BYTES)) ?? '';
  return text.split(/\s+/).filter((line) => line !== '');
}

/** Changes with whatever changes what apk says of the feeds. */
export async function indexVersion(paths: Paths, locations: Locations): Promise<string> {
  const files = await feedFiles(paths, locations);
  const versions = files.map((file) => `${file} ${fileVersionSync(file) ?? ''}`);
  return [...versions, (await readMasks(locations)).version].join('\n');
}
