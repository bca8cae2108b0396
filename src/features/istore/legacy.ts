import { readdir } from 'node:fs/promises';
import { readSmallFile } from '../../device/owner-file.ts';
import type { Paths } from '../../device/paths.ts';
import type { FeedSettings } from '../../package-management/feed-settings.ts';
import { ISTORE_RECORDS } from '../../package-management/names.ts';
import type { IstoreLegacy } from './documentation.ts';
import type { IstoreSettings } from './istore-settings.ts';

type Feed = Omit<IstoreLegacy['feeds'][number], 'is_there'>;

const MOST_BYTES = 256 * 1024;
const ADDRESS = /^https?:\/\/[A-Za-z0-9.:[\]-]+(?:\/[A-Za-z0-9._~%/-]*)?$/;
/** Files of iStore's own root, which lies in memory: it is there once iStore has updated. */
const FEED_FILES = ['meta.conf', 'all.conf', 'arch.conf'].map(
  (name) => `/tmp/is-root/etc/opkg/${name}`,
);
const FEED_LINE = /^src\/gz\s+([A-Za-z0-9_][A-Za-z0-9_.-]{0,60})\s+(\S{1,600})\s*$/gm;

interface LegacyTools {
  paths: Pick<Paths, 'onDevice'>;
  settings: IstoreSettings;
  feeds: FeedSettings;
  /** iStore's catalogue is for opkg alone. */
  isOpkg: boolean;
}

export async function readLegacy(tools: LegacyTools): Promise<IstoreLegacy> {
  const { paths, settings, feeds, isOpkg } = tools;
  const read = async (path: string): Promise<string> =>
    (await readSmallFile(paths.onDevice(path), MOST_BYTES)) ?? '';
  const program = await read('/bin/is-opkg');
  const [lastPath, { feeds: known }, config, records] = await Promise.all([
    settings.read('last_path'),
    feeds.read(),
    read('/etc/opkg.conf'),
    readdir(paths.onDevice(ISTORE_RECORDS)).catch(() => []),
  ]);
  const there = known.map(({ url }) => url.replace(/\/+$/, ''));
  const texts = isOpkg ? await Promise.all(FEED_FILES.map(read)) : [];
  const offered = texts.flatMap((text) => feedsIn(text, serversIn(program)));
  return {
    seen: program !== '',
    records: records.filter((name) => name.endsWith('.txt')).length,
    ...(lastPath !== undefined && { last_path: lastPath }),
    feeds: offered.map((feed) => ({
      ...feed,
      is_there: [feed.url, ...feed.mirrors].some((url) => there.includes(url)),
    })),
    checks_signatures: /^\s*option\s+check_signature\b/m.test(config),
  };
}

interface Servers {
  origin: string;
  mirrors: string[];
}

/** The servers of iStore's feeds stand in its program alone. */
function serversIn(program: string): Servers | undefined {
  const valueOf = (name: string): string =>
    new RegExp(`^${name}="?([^"\\n$]*)"?$`, 'm').exec(program)?.[1] ?? '';
  const origin = valueOf('FEEDS_SERVER');
  const mirrors = valueOf('FEEDS_SERVER_MIRRORS').split(/\s+/);
  return ADDRESS.test(origin)
    ? { origin, mirrors: mirrors.filter((mirror) => ADDRESS.test(mirror)) }
    : undefined;
}

/** Anybody may write below /tmp: only what is on iStore's own server counts. */
function feedsIn(text: string, servers: Servers | undefined): Feed[] {
  if (servers === undefined) return [];
  const { origin, mirrors } = servers;
  return [...text.matchAll(FEED_LINE)].flatMap(([, name = '', address = '']) => {
    const url = address.replace(/\/+$/, '');
    if (!url.startsWith(`${origin}/`) || !ADDRESS.test(url)) return [];
    const path = url.slice(origin.length);
    return [{ name, url, mirrors: mirrors.map((mirror) => `${mirror}${path}`) }];
  });
}
