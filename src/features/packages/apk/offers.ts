import * as v from 'valibot';
import { run } from '../../../device/exec.ts';
import { fileVersion } from '../../../device/file-version.ts';
import { readSmallFile } from '../../../device/owner-file.ts';
import type { Paths } from '../../../device/paths.ts';
import { DepotError } from '../../../errors.ts';
import type { Offer } from '../package-manager.ts';
import type { ApkCommands } from './commands.ts';
import { compareVersions } from './compare-versions.ts';
import { assertEnding, feedFiles, indexFiles } from './index-files.ts';
import { readMasks } from './masks.ts';
import type { Locations } from './records/locations.ts';

/** With what it takes, in bytes. */
export interface ApkOffer extends Offer {
  downloadBytes: number;
  installedBytes: number;
}

const LIMITS = { timeoutMs: 60_000, maxBytes: 64 * 1024 ** 2 };

const queried = v.array(
  v.object({
    name: v.string(),
    version: v.string(),
    arch: v.optional(v.string(), 'noarch'),
    'file-size': v.optional(v.number(), 0),
    'installed-size': v.optional(v.number(), 0),
    repositories: v.optional(v.array(v.string()), []),
  }),
);
const FIELDS = 'name,version,arch,file-size,installed-size';

/**
 * What the feeds offer. Their indexes are databases of apk's own kind, so apk reads them: once for
 * each change of an index, of the list of feeds, or of the architectures. It takes no lock for
 * that. Single flight: concurrent callers share one run. What is masked (masks.ts) is no offer.
 */
export function createOffers(
  paths: Paths,
  locations: Locations,
  commands: Pick<ApkCommands, 'apk'>,
): Offers {
  let known: { version: string; offers: Promise<FoundOffers> } | undefined;
  const current = async (): Promise<FoundOffers> => {
    const version = await indexVersion(paths, locations);
    if (known?.version !== version) known = { version, offers: query(paths, locations, commands) };
    const { offers } = known;
    // A failure is not remembered.
    return offers.catch((error: unknown) => {
      if (known?.offers === offers) known = undefined;
      throw error;
    });
  };
  return async (names, { withMasked = false } = {}) => {
    const found = await current();
    const offers = withMasked ? found.all : found.open;
    if (names === undefined) return new Map(offers);
    return new Map(
      names.flatMap((name) => {
        const versions = offers.get(name);
        return versions === undefined ? [] : [[name, versions]];
      }),
    );
  };
}

/** By name, the best first. `apk fetch` takes what is masked, too. */
export type Offers = (
  names?: readonly string[],
  options?: { withMasked?: boolean },
) => Promise<Map<string, ApkOffer[]>>;

interface FoundOffers {
  open: Map<string, ApkOffer[]>;
  all: Map<string, ApkOffer[]>;
}

async function query(
  paths: Paths,
  locations: Locations,
  { apk }: Pick<ApkCommands, 'apk'>,
): Promise<FoundOffers> {
  await assertEnding(await indexFiles(paths, locations));
  const { isAny, isMasked } = await readMasks(locations);
  const { exitCode, stdout, stderr } = await run(
    apk(
      'query',
      '--format',
      'json',
      '--from',
      'repositories',
      '--all-matches',
      '--fields',
      isAny ? `${FIELDS},repositories` : FIELDS,
      '*',
    ),
    LIMITS,
  );
  if (exitCode !== 0) {
    throw new DepotError(
      'unavailable',
      `cannot read what the feeds offer: ${lastLine(stderr) ?? `exit code ${exitCode ?? 'none'}`}`,
    );
  }
  const accepted = new Set([...(await readArchitectures(paths)), 'noarch']);
  const all = new Map<string, ApkOffer[]>();
  const open = isAny ? new Map<string, ApkOffer[]>() : all;
  for (const { name, version, arch, ...found } of v.parse(queried, JSON.parse(stdout))) {
    if (accepted.size > 1 && !accepted.has(arch)) continue;
    const offer = {
      name,
      version,
      downloadBytes: found['file-size'],
      installedBytes: found['installed-size'],
    };
    add(all, offer);
    const isOpen = isAny && !found.repositories.every((url) => isMasked(name, url));
    if (isOpen) add(open, offer);
  }
  return { open: sorted(open), all: sorted(all) };
}

function add(offers: Map<string, ApkOffer[]>, offer: ApkOffer): void {
  const others = offers.get(offer.name);
  if (others === undefined) offers.set(offer.name, [offer]);
  else others.push(offer);
}

function sorted(offers: Map<string, ApkOffer[]>): Map<string, ApkOffer[]> {
  for (const versions of offers.values()) {
    versions.sort((a, b) => compareVersions(b.version, a.version));
  }
  return offers;
}

/** The last of its errors. */
export function lastLine(text: string): string | undefined {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('ERROR:'))
    .at(-1);
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
  const versions = await Promise.all(
    files.map(async (file) => `${file} ${(await fileVersion(file)) ?? ''}`),
  );
  return [...versions, (await readMasks(locations)).version].join('\n');
}
