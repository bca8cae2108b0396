import { createSequence } from '../../../device/concurrency-limit.ts';
import type { DepotError } from '../../../errors.ts';
import { failureError } from '../../failure.ts';
import type { Offer } from '../../manager.ts';
import { isPackageName } from '../../names.ts';
import { compareVersions } from '../compare-versions.ts';
import type { QueriedPackage } from './queried-package.ts';
import { indexVersion } from './index-files.ts';
import { queryOffers, type FeedSource } from './apk-query.ts';

/** An offer with its sizes in bytes. */
export interface ApkOffer extends Offer {
  downloadBytes: number;
  installedBytes: number;
}

const FIELDS = 'name,version,arch,file-size,installed-size,repositories';

/** A change asks for hundreds of names, of which feeds have a few versions each. */
const MOST_OFFERS = 20_000;
/** Names that are remembered. */
const MOST_KNOWN = 5000;

/**
 * What the feeds offer. Their indexes are databases of apk's own kind, so apk reads them: of the
 * names that are asked for, since a feed may have more than the daemon has room for, and once for
 * each change of an index, of the list of feeds, or of the architectures. It takes no lock. One
 * query at a time: who waited need not ask again. What is masked (feed-lines.ts) is no offer.
 */
export function createOffers(source: FeedSource): Offers {
  const { paths, locations } = source;
  let version = '';
  let known = new Map<string, FoundOffers>();
  const inTurn = createSequence();
  const learn = async (names: readonly string[]): Promise<typeof known> => {
    const current = await indexVersion(paths, locations);
    if (current !== version || known.size > MOST_KNOWN) known = new Map();
    version = current;
    const unknown = names.filter((name) => isPackageName(name) && !known.has(name));
    if (unknown.length === 0) return known;
    for (const [name, found] of await query(source, unknown)) known.set(name, found);
    return known;
  };
  return async (names, { withMasked = false } = {}) => {
    const found = await inTurn(() => learn(names));
    return new Map(
      names.flatMap((name) => {
        const versions = found.get(name)?.[withMasked ? 'all' : 'open'] ?? [];
        return versions.length === 0 ? [] : [[name, versions]];
      }),
    );
  };
}

/** Offers by name, the best first. `apk fetch` takes what is masked, too. */
export type Offers = (
  names: readonly string[],
  options?: { withMasked?: boolean },
) => Promise<Map<string, ApkOffer[]>>;

type FoundOffers = Record<'open' | 'all', ApkOffer[]>;

async function query(source: FeedSource, names: readonly string[]) {
  const offers = new Map<string, FoundOffers>(names.map((name) => [name, { open: [], all: [] }]));
  let count = 0;
  const visit = (found: QueriedPackage, urls: readonly string[]): boolean => {
    const { name, version, downloadBytes, installedBytes } = found;
    const known = offers.get(name);
    if (known === undefined) return true;
    const offer = { name, version, downloadBytes, installedBytes };
    known.all.push(offer);
    if (urls.length > 0) known.open.push(offer);
    count += 1;
    return count < MOST_OFFERS;
  };
  await queryOffers(source, { names, fields: FIELDS, isPartialEnough: false }, visit);
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
