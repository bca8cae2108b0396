import { createReadStream } from 'node:fs';
import type { InspectedFile } from '../../manager.ts';
import { asUnusableFile, unusableFile } from '../../failure.ts';
import { limitedGunzip, type Unpack } from '../../limited-gunzip.ts';
import { createNameBudget } from '../../names.ts';
import { parseDepends, parseStanza, type Stanza } from '../database/stanza.ts';
import { allBytes } from '../../../device/byte-reader.ts';
import { foldersAbove } from '../../../device/inside-folder.ts';
import { readTar, type TarMember } from '../../../device/tar/tar-reader.ts';

/**
 * Judges a package file by its content: a gzip of a tar with `debian-binary`, `control.tar.gz` and
 * `data.tar.gz`, none of which unpacks to a place outside of where it is unpacked to. It is read as
 * a stream; `mostBytes` bounds what it may unpack to, since it could not be installed anyway, and a
 * small file can unpack to a thousand times its size.
 * @throws DepotError bad_request; no_space if it would unpack to more
 */
export async function inspectIpk(file: string, mostBytes: number): Promise<InspectedFile> {
  const unpack = limitedGunzip(mostBytes);
  const found = new Map<string, string>();
  try {
    for await (const member of readTar(unpack(createReadStream(file)))) {
      const name = member.name.replace(/^\.\//, '');
      if (!MEMBERS.includes(name)) continue;
      // Of two opkg takes the first.
      if (found.has(name)) throw new Error(`it has ${name} twice`);
      found.set(name, await readMember(name, member, unpack));
    }
  } catch (error) {
    throw asUnusableFile(error);
  }
  const missing = MEMBERS.find((name) => !found.has(name));
  if (missing !== undefined) throw unusableFile(`it has no ${missing}`);
  const control = parseStanza(found.get('control.tar.gz') ?? '');
  const name = control.get('Package') ?? '';
  const version = control.get('Version') ?? '';
  if (name === '' || version === '') {
    throw unusableFile('its control file names no package or no version');
  }
  return { name, version, depends: parseDepends(control.get('Depends')), ...sizeIn(control) };
}

const MEMBERS = ['debian-binary', 'control.tar.gz', 'data.tar.gz'];

/** @returns the control file, of the archive that has it */
async function readMember(name: string, member: TarMember, unpack: Unpack): Promise<string> {
  if (name === 'control.tar.gz') return readControl(member, unpack);
  if (name === 'data.tar.gz') await checkData(member, unpack);
  return '';
}

function sizeIn(control: Stanza): Pick<InspectedFile, 'installedBytes'> {
  const installedBytes = Number(control.get('Installed-Size') ?? NaN);
  return Number.isSafeInteger(installedBytes) ? { installedBytes } : {};
}

/** The control file of a package file that was judged. @throws Error if it has none */
export async function readIpkControl(file: string): Promise<string> {
  const unpack = limitedGunzip(Infinity);
  for await (const member of readTar(unpack(createReadStream(file)))) {
    // Waited for here: what it reads is closed with the loop.
    if (/^(?:\.\/)?control\.tar\.gz$/.test(member.name)) return await readControl(member, unpack);
  }
  throw new Error('it has no control.tar.gz');
}

/** The files that a package brings, absolute, without folders. @throws an Error if it is none */
export async function filesInIpk(file: string, mostBytes: number): Promise<string[]> {
  const unpack = limitedGunzip(mostBytes);
  const files: string[] = [];
  for await (const member of readTar(unpack(createReadStream(file)))) {
    if (!/^(?:\.\/)?data\.tar\.gz$/.test(member.name)) continue;
    for await (const { name, type } of readTar(unpack(member.content))) {
      const segments = segmentsOf(name);
      if (type !== '5' && !segments.includes('..')) files.push(`/${segments.join('/')}`);
    }
  }
  return files;
}

const MOST_CONTROL_BYTES = 64 * 1024;

async function readControl(archive: TarMember, unpack: Unpack): Promise<string> {
  let text: string | undefined;
  const isInside = createInsideCheck();
  for await (const member of readTar(unpack(archive.content))) {
    if (!isInside(member)) {
      throw new Error(`its control archive has the name "${member.name.slice(0, 200)}"`);
    }
    if (member.name.replace(/^\.\//, '') !== 'control') continue;
    if (text !== undefined) throw new Error('it has control twice');
    if (member.sizeBytes > MOST_CONTROL_BYTES) throw new Error('its control file is too large');
    text = (await allBytes(member.content)).toString('utf8');
  }
  if (text === undefined) throw new Error('it has no control file');
  return readByOpkg(text.replace(/^\n+/, ''));
}

/**
 * As far as opkg reads it: up to a zero byte, or to a line of blanks, but for one among Conffiles.
 * @throws an Error if the last of several lines counts, of what begins like it as well
 */
function readByOpkg(text: string): string {
  const lines = (text.split('\0', 1)[0] ?? '').split('\n');
  let isAmongFiles = false;
  const end = lines.findIndex((line) => {
    isAmongFiles = line.startsWith('Conffiles') || (isAmongFiles && line.startsWith(' '));
    return !isAmongFiles && /^[ \t\v\f\r]*$/.test(line);
  });
  const read = end === -1 ? lines : lines.slice(0, end);
  const twice = ['Package', 'Version'].find(
    (field) => read.filter((line) => line.startsWith(field)).length > 1,
  );
  if (twice !== undefined) throw new Error(`it has ${twice} twice`);
  return `${read.join('\n')}\n`;
}

async function checkData(archive: TarMember, unpack: Unpack): Promise<void> {
  const isInside = createInsideCheck();
  for await (const member of readTar(unpack(archive.content))) {
    if (!isInside(member)) {
      throw new Error(`it would unpack "${member.name.slice(0, 200)}" outside of its place`);
    }
  }
}

/** Most folders of a package: each costs a look at every folder above it. */
const MOST_FOLDERS = 128;

/**
 * Whether a member stays below the folder that its archive is unpacked to: no `..`, and nothing
 * through a link of the archive's own.
 */
function createInsideCheck(): (member: TarMember) => boolean {
  const links = new Set<string>();
  const spend = createNameBudget();
  return ({ name, type, target }) => {
    const segments = segmentsOf(name);
    if (segments.length > MOST_FOLDERS) throw new Error('a name in it is too many folders deep');
    if (segments.includes('..')) return false;
    if (foldersAbove(segments.join('/')).some((folder) => links.has(folder))) return false;
    // A file of the same name as a link before it would be written where the link points.
    if (links.has(segments.join('/')) && type !== '2') return false;
    if (type === '2') {
      links.add(segments.join('/'));
      spend(name);
    }
    return type !== '1' || isTargetInside(target, links);
  };
}

/** A hard link's target is a path in the archive, too. */
function isTargetInside(target: string, links: ReadonlySet<string>): boolean {
  const segments = segmentsOf(target);
  return (
    !target.startsWith('/') &&
    !segments.includes('..') &&
    ![...foldersAbove(segments.join('/')), segments.join('/')].some((place) => links.has(place))
  );
}

function segmentsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
