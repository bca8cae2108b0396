import type { Stats } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { networkInterfaces, totalmem, uptime } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { VERSION } from '../../../config/environment.ts';
import { freeBytesOf } from '../../../device/disk/space.ts';
import { run } from '../../../device/exec.ts';
import { readSmallBytes } from '../../../device/owner-file.ts';
import { isOfRoot, openTrustedFolder } from '../../../device/private-folder.ts';
import { reasonOf } from '../../../errors.ts';
import { appOf } from '../../../package-management/names.ts';
import { isPresent } from '../../../package-management/database.ts';
import { readMac } from '../controller-id.ts';
import type { Fleet } from './fleet.ts';

/** hawkBit takes no longer keys and values, and no more entries. */
const MOST_CHARACTERS = 128;
const MOST_ENTRIES = 100;
const MIB = 1024 ** 2;

/** What operators filter by; with more than the server takes, those below are left out. */
export async function configData(fleet: Fleet, drift: string): Promise<Record<string, string>> {
  const { manager, settings, processes } = fleet;
  const { tags, report_apps: reportApps, report_packages: names } = settings();
  const entries: [string, string][] = [
    ...(await hardwareOf(fleet)),
    ['arch', await manager.architecture()],
    ['depotd', VERSION],
    ['package_manager', manager.name],
    // Two devices with one name: it goes to and fro.
    ['boot', (await processes.bootId()).slice(0, 8)],
    ['drift', drift],
    ...tags.map((tag): [string, string] => [
      `tag.${tag.slice(0, tag.indexOf('='))}`,
      tag.slice(tag.indexOf('=') + 1),
    ]),
    ...(await ownAttributes(fleet)),
    ...(reportApps === 'yes' || names.length > 0 ? await packagesOf(fleet) : []),
  ];
  const fitting = entries.filter(([, value]) => value !== '').slice(0, MOST_ENTRIES);
  return Object.fromEntries(
    fitting.map(([key, value]) => [key.slice(0, MOST_CHARACTERS), value.slice(0, MOST_CHARACTERS)]),
  );
}

async function hardwareOf({ paths, settings }: Fleet): Promise<[string, string][]> {
  const { report_addresses: hasAddresses } = settings();
  const release = await readRelease(paths);
  return [
    ['hostname', await firstLine(paths.onDevice('/proc/sys/kernel/hostname'))],
    ['model', await firstLine(paths.onDevice('/tmp/sysinfo/model'))],
    ['board', await firstLine(paths.onDevice('/tmp/sysinfo/board_name'))],
    ['release', release.get('DISTRIB_RELEASE') ?? ''],
    ['distribution', release.get('DISTRIB_ID') ?? ''],
    ['target', release.get('DISTRIB_TARGET') ?? ''],
    ['mac', (await readMac(paths)) ?? ''],
    ['macs', joined(await portMacs(paths.onDevice('/sys/class/net')))],
    ...(hasAddresses === 'yes' ? [['addresses', joined(addresses())] as [string, string]] : []),
    ['memory_mb', String(Math.floor(totalmem() / MIB))],
    ['free_mb', String(Math.floor((await freeBytesOf(paths.root)) / MIB))],
    ['uptime_h', String(Math.floor(uptime() / 3600))],
  ];
}

/** Addresses of network ports that are hardware: those of containers come and go. */
async function portMacs(folder: string): Promise<string[]> {
  const found = new Set<string>();
  for (const port of await readdir(folder).catch(() => [])) {
    const isHardware = (await readdir(`${folder}/${port}/device`).catch(() => [])).length > 0;
    if (isHardware) found.add((await firstLine(`${folder}/${port}/address`)).toLowerCase());
  }
  return [...found].filter((mac) => mac !== '').sort();
}

function addresses(): string[] {
  return Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .filter(({ internal, address }) => !internal && !/^fe80:/i.test(address))
    .map(({ address }) => address)
    .sort();
}

/** As many values as the server takes, each whole. */
function joined(values: readonly string[]): string {
  return values.reduce((text, value) => {
    const longer = text === '' ? value : `${text} ${value}`;
    return longer.length <= MOST_CHARACTERS ? longer : text;
  }, '');
}

/** Apps by the packages that carry their descriptions, and the packages that are asked for. */
async function packagesOf({ manager, settings }: Fleet): Promise<[string, string][]> {
  const { report_apps: reportApps, report_packages: names } = settings();
  const present = [...(await manager.installed()).values()].filter(isPresent);
  const wanted = present.filter(({ name }) => names.includes(name));
  return [
    ...wanted.map(({ name, version }): [string, string] => [`package.${name}`, version]),
    ...(reportApps === 'yes' ? present : []).flatMap(({ name, version }): [string, string][] => {
      const app = appOf(name);
      return app.isApp ? [[`app.${app.name}`, version]] : [];
    }),
  ];
}

/** What /etc/openwrt_release says: `DISTRIB_ID='OpenWrt'`, one a line. */
export async function readRelease({ onDevice }: Fleet['paths']): Promise<Map<string, string>> {
  const text = await readFile(onDevice('/etc/openwrt_release'), 'utf8').catch(() => '');
  const lines = [...text.matchAll(/^([A-Z_]+)=(['"]?)(.*?)\2$/gm)];
  return new Map(lines.map(([, name = '', , value = '']) => [name, value]));
}

const MOST_BYTES = 64 * 1024;

/** On a system that is no OpenWrt /tmp/sysinfo is whoever's makes it. */
async function firstLine(path: string): Promise<string> {
  const text = (await readSmallBytes(path, MOST_BYTES))?.toString() ?? '';
  return text.split('\n')[0]?.trim() ?? '';
}

const PROGRAM_MS = 5000;
const MOST_PROGRAM_BYTES = 8192;
const MOST_KEYS = 40;

/**
 * What the owner's own program says of the device, as lines `KEY=VALUE`. One that cannot be had is
 * named by an attribute: values that are gone would look as if the device had lost them.
 */
async function ownAttributes(fleet: Fleet): Promise<[string, string][]> {
  const { settings, scriptEnvironment, log } = fleet;
  const { attributes_script: file } = settings();
  if (file === '') return [];
  try {
    const program = await trustedProgram(file);
    const { exitCode, stdout, cutShortBy } = await run(
      { argv: [program], environment: scriptEnvironment },
      { timeoutMs: PROGRAM_MS, maxBytes: MOST_PROGRAM_BYTES },
    );
    if (cutShortBy === 'time') throw new Error(`it took longer than ${PROGRAM_MS / 1000} s`);
    if (cutShortBy === 'output') throw new Error(`it wrote more than ${MOST_PROGRAM_BYTES} bytes`);
    if (exitCode !== 0) throw new Error(`it ended with exit code ${exitCode ?? 'none'}`);
    return attributesIn(stdout);
  } catch (error) {
    log.warn({ file, reason: reasonOf(error) }, 'fleet attributes script failed');
    return [['attributes_error', plainText(reasonOf(error))]];
  }
}

/** The attributes' script runs as this daemon does: nobody else may be able to change it. */
async function trustedProgram(file: string): Promise<string> {
  const [folder, name] = [dirname(file), basename(file)];
  if (!isOwn(await lstat(folder))) throw new Error(`others may write in ${folder}`);
  const program = join(await openTrustedFolder(folder), name);
  const entry = await lstat(program);
  if (!entry.isFile()) throw new Error('it is no file');
  if (!isOwn(entry)) throw new Error('others may change it');
  return program;
}

function isOwn(entry: Stats): boolean {
  return isOfRoot(entry) && (entry.mode & 0o022) === 0;
}

function attributesIn(text: string): [string, string][] {
  const found = [...text.matchAll(/^([A-Za-z0-9_.-]{1,64})=(.*)$/gm)];
  return found
    .slice(0, MOST_KEYS)
    .map(([, key = '', value = '']) => [`own.${key}`, plainText(value)]);
}

/** An attribute's value without what could be taken for more than text. */
function plainText(value: string): string {
  return value.replace(/[\p{C}<>]/gu, '').trim();
}
