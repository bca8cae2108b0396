import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { InspectedFile } from '../../manager.ts';
import { asUnusableFile, unpacksTooLarge, unusableFile } from '../../failure.ts';
import { createNameBudget } from '../../names.ts';
import { parseDepends, parseStanza, type Stanza } from '../database/stanza.ts';
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
  const budget: Budget = { most: mostBytes, left: mostBytes };
  const found = new Map<string, string>();
  try {
    for await (const member of readTar(gunzip(createReadStream(file), budget))) {
      const name = member.name.replace(/^\.\//, '');
      if (name === 'control.tar.gz') found.set(name, await readControl(member, budget));
      else if (name === 'data.tar.gz') found.set(name, await checkData(member, budget));
      else if (name === 'debian-binary') found.set(name, '');
    }
  } catch (error) {
    throw asUnusableFile(error);
  }
  const missing = ['debian-binary', 'control.tar.gz', 'data.tar.gz'].find(
    (name) => !found.has(name),
  );
  if (missing !== undefined) throw unusableFile(`it has no ${missing}`);
  const control = parseStanza(found.get('control.tar.gz') ?? '');
  const name = control.get('Package') ?? '';
  const version = control.get('Version') ?? '';
  if (name === '' || version === '') {
    throw unusableFile('its control file names no package or no version');
  }
  return { name, version, depends: parseDepends(control.get('Depends')), ...sizeIn(control) };
}

function sizeIn(control: Stanza): Pick<InspectedFile, 'installedBytes'> {
  const installedBytes = Number(control.get('Installed-Size') ?? NaN);
  return Number.isSafeInteger(installedBytes) ? { installedBytes } : {};
}

/** The control file of a package file that was judged. @throws Error if it has none */
export async function readIpkControl(file: string): Promise<string> {
  const budget = { most: Infinity, left: Infinity };
  for await (const member of readTar(gunzip(createReadStream(file), budget))) {
    if (/^(?:\.\/)?control\.tar\.gz$/.test(member.name)) return readControl(member, budget);
  }
  throw new Error('it has no control.tar.gz');
}

/** The files that a package brings, absolute, without folders. @throws an Error if it is none */
export async function filesInIpk(file: string, mostBytes: number): Promise<string[]> {
  const budget: Budget = { most: mostBytes, left: mostBytes };
  const files: string[] = [];
  for await (const member of readTar(gunzip(createReadStream(file), budget))) {
    if (!/^(?:\.\/)?data\.tar\.gz$/.test(member.name)) continue;
    for await (const { name, type } of readTar(gunzip(member.content, budget))) {
      const segments = segmentsOf(name);
      if (type !== '5' && !segments.includes('..')) files.push(`/${segments.join('/')}`);
    }
  }
  return files;
}

/** Bytes that may be unpacked in all, and how many are left. */
interface Budget {
  most: number;
  left: number;
}

async function* gunzip(source: AsyncIterable<Buffer>, budget: Budget): AsyncGenerator<Buffer> {
  const packed = source instanceof Readable ? source : Readable.from(source, { objectMode: false });
  const unpacked = createGunzip();
  packed.on('error', (error) => unpacked.destroy(error));
  packed.pipe(unpacked);
  try {
    for await (const piece of unpacked as AsyncIterable<Buffer>) {
      budget.left -= piece.length;
      if (budget.left < 0) throw unpacksTooLarge(budget.most);
      yield piece;
    }
  } finally {
    packed.destroy();
    unpacked.destroy();
  }
}

const MOST_CONTROL_BYTES = 64 * 1024;

async function readControl(archive: TarMember, budget: Budget): Promise<string> {
  let text: string | undefined;
  const isInside = createInsideCheck();
  for await (const member of readTar(gunzip(archive.content, budget))) {
    if (!isInside(member)) {
      throw new Error(`its control archive has the name "${member.name.slice(0, 200)}"`);
    }
    if (member.name.replace(/^\.\//, '') !== 'control') continue;
    if (member.sizeBytes > MOST_CONTROL_BYTES) throw new Error('its control file is too large');
    text = '';
    for await (const piece of member.content) text += piece.toString('utf8');
  }
  if (text === undefined) throw new Error('it has no control file');
  return text;
}

async function checkData(archive: TarMember, budget: Budget): Promise<string> {
  const isInside = createInsideCheck();
  for await (const member of readTar(gunzip(archive.content, budget))) {
    if (!isInside(member)) {
      throw new Error(`it would unpack "${member.name.slice(0, 200)}" outside of its place`);
    }
  }
  return '';
}

/** Each costs a look at every folder above it. */
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
