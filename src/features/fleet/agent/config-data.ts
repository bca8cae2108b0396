import { readFile } from 'node:fs/promises';
import { VERSION } from '../../../config/environment.ts';
import { freeBytesOf } from '../../../device/disk/space.ts';
import { appOf } from '../../../package-management/names.ts';
import { isPresent } from '../../../package-management/database.ts';
import type { Fleet } from './fleet.ts';

/** hawkBit takes no longer keys and values, and no more entries. */
const MOST_CHARACTERS = 128;
const MOST_ENTRIES = 100;
const MIB = 1024 ** 2;

/** What operators filter by. */
export async function configData(fleet: Fleet): Promise<Record<string, string>> {
  const { manager, paths, settings, processes } = fleet;
  const { tags, report_apps: reportApps } = settings();
  const release = await releaseOf(paths.onDevice('/etc/openwrt_release'));
  const own: [string, string][] = [
    ['model', await firstLine(paths.onDevice('/tmp/sysinfo/model'))],
    ['release', release.get('DISTRIB_RELEASE') ?? ''],
    ['distribution', release.get('DISTRIB_ID') ?? ''],
    ['arch', await manager.architecture()],
    ['depotd', VERSION],
    ['package_manager', manager.name],
    // Two devices with one name: it goes to and fro.
    ['boot', (await processes.bootId()).slice(0, 8)],
    ['free_mb', String(Math.floor((await freeBytesOf(paths.root)) / MIB))],
    ...tags.map((tag): [string, string] => [
      `tag.${tag.slice(0, tag.indexOf('='))}`,
      tag.slice(tag.indexOf('=') + 1),
    ]),
  ];
  const apps = reportApps === 'yes' ? await appsOf(fleet) : [];
  const entries = [...own, ...apps].filter(([, value]) => value !== '');
  const fitting = entries.slice(0, MOST_ENTRIES);
  return Object.fromEntries(
    fitting.map(([key, value]) => [key.slice(0, MOST_CHARACTERS), value.slice(0, MOST_CHARACTERS)]),
  );
}

/** By the packages that carry the apps' descriptions. */
async function appsOf({ manager }: Fleet): Promise<[string, string][]> {
  const database = await manager.installed();
  return [...database.values()].filter(isPresent).flatMap(({ name, version }) => {
    const app = appOf(name);
    return app.isApp ? [[`app.${app.name}`, version]] : [];
  });
}

/** `DISTRIB_ID='OpenWrt'`, one a line. */
async function releaseOf(path: string): Promise<Map<string, string>> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return new Map(
    [...text.matchAll(/^([A-Z_]+)=(['"]?)(.*?)\2$/gm)].map(([, name = '', , value = '']) => [
      name,
      value,
    ]),
  );
}

async function firstLine(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch(() => '');
  return text.split('\n')[0]?.trim() ?? '';
}
