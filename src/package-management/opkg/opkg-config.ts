import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileVersionSync } from '../../device/file-version.ts';
import type { Paths } from '../../device/paths.ts';
import { unlessShort } from '../../device/shortage.ts';
import type { Feed } from '../feed-settings.ts';
import { isFeed, wordsOf } from './feeds/feed-lines.ts';

/** What readers of opkg's database need of its configuration; paths have the root included. */
export interface OpkgConfig {
  /** Roots that packages can be installed to; the first is the default one. */
  destinations: string[];
  listsDir: string;
  /** Architectures that may be installed, with their priority; none if nothing tells. */
  architectures: Map<string, number>;
  feeds: (Feed & { isGzip: boolean })[];
  checksSignatures: boolean;
  /** The folder, of the running system, whose free space opkg goes by, if it names one. */
  overlayRoot?: string;
}

/**
 * Reads `opkg.conf` and `opkg/*.conf` as opkg does: `dest NAME PATH`, `lists_dir NAME PATH`, `arch
 * NAME PRIORITY`, `src|src/gz NAME URL`, `option NAME [VALUE]`. With an offline root opkg reads
 * only the folder. If no line names an architecture, as on OpenWrt, opkg has the one that it was
 * built for, and so has the release.
 */
export function createConfigReader(paths: Paths): () => Promise<OpkgConfig> {
  let known: { version: string; config: OpkgConfig } | undefined;
  // Each look at the database asks, some 25 times a task; the files change once in a year. At once:
  // a pool of threads takes ten times as long to look at some names of the root file system.
  return async () => {
    const files = versionsOf(paths);
    const version = `${[...files].join()},${fileVersionSync(paths.onDevice(RELEASE_FILE))}`;
    if (known?.version !== version) {
      known = { version, config: await readOpkgConfig(paths, files.keys()) };
    }
    return known.config;
  };
}

async function readOpkgConfig(paths: Paths, files: Iterable<string>): Promise<OpkgConfig> {
  const config: OpkgConfig = {
    destinations: [],
    listsDir: paths.onDevice(DEFAULT_LISTS_DIR),
    architectures: new Map(),
    feeds: [],
    checksSignatures: false,
  };
  for (const file of files) {
    // A shortage must not pass for empty settings: they would be kept.
    const text = await readFile(file, 'utf8').catch(unlessShort(''));
    for (const line of text.split('\n')) addLine(config, paths, line);
  }
  if (config.destinations.length === 0) config.destinations.push(paths.onDevice('/'));
  if (config.architectures.size === 0) config.architectures = await releaseArchitectures(paths);
  return config;
}

/** The architecture of the highest priority, the device's own: that of `all` is the lowest. */
export function preferredArchitecture({ architectures }: OpkgConfig): string {
  const [best] = [...architectures].sort(([, a], [, b]) => b - a);
  return best?.[0] ?? '';
}

async function releaseArchitectures(paths: Paths): Promise<OpkgConfig['architectures']> {
  const text = await readFile(paths.onDevice(RELEASE_FILE), 'utf8').catch(unlessShort(''));
  const [, name] = /^DISTRIB_ARCH=['"]?([A-Za-z0-9_.+-]+)/m.exec(text) ?? [];
  if (name === undefined) return new Map();
  // The priorities that opkg itself gives them.
  return new Map(Object.entries({ all: 1, noarch: 1, [name]: 10 }));
}

const DEFAULT_LISTS_DIR = '/usr/lib/opkg/lists';
const RELEASE_FILE = '/etc/openwrt_release';

/** The files that opkg reads, in its order. */
export function configFiles(paths: Paths): string[] {
  return [...versionsOf(paths).keys()];
}

function versionsOf({ onDevice, isLive }: Paths): Map<string, string> {
  const folder = onDevice('/etc/opkg');
  const inFolder = namesIn(folder)
    .filter((name) => name.endsWith('.conf') && !name.startsWith('.'))
    .sort()
    .map((name) => join(folder, name));
  // With an offline root opkg ignores the opkg.conf in it.
  const paths = isLive ? [onDevice('/etc/opkg.conf'), ...inFolder] : inFolder;
  // Reading a fifo would wait for ever: what is no file has none.
  return new Map(
    paths.flatMap((path): [string, string][] => {
      const version = fileVersionSync(path);
      return version === undefined ? [] : [[path, version]];
    }),
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    return unlessShort<string[]>([])(error);
  }
}

function addLine(config: OpkgConfig, paths: Paths, line: string): void {
  const [type = '', name, value] = line.trimStart().startsWith('#') ? [] : wordsOf(line);
  if (name === undefined) return;
  if (type === 'option') addOption(config, name, value);
  if (type === 'arch') config.architectures.set(name, Number(value ?? 10));
  if (value === undefined) return;
  if (type === 'dest') config.destinations.push(paths.onDevice(value));
  if (type === 'lists_dir') config.listsDir = paths.onDevice(value);
  if (isFeed(type)) config.feeds.push({ name, url: value, isGzip: type === 'src/gz' });
}

function addOption(config: OpkgConfig, name: string, value: string | undefined): void {
  config.checksSignatures ||= name === 'check_signature' && value !== '0';
  if (name === 'overlay_root' && value !== undefined) config.overlayRoot ??= value;
}
