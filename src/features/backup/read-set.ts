import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import * as v from 'valibot';
import { allBytes } from '../../device/byte-reader.ts';
import { readTar, type TarMember } from '../../device/tar/tar-reader.ts';
import { DepotError, reasonOf, systemCode } from '../../errors.ts';
import {
  FORMAT,
  hasTooMuch,
  MANIFEST,
  manifestSchema,
  membersOf,
  MOST_MANIFEST_BYTES,
  type Manifest,
  type Member,
} from './manifest.ts';
import { NOT_KEPT } from './kept-files.ts';
import { isSealed } from './seal.ts';

const FOREIGN = 'it is no backup of depotd';
const CHANGED = 'it was changed, or its end is missing';
/** The type of a plain file, in tar. */
const PLAIN = '0';
/** Largest set, all members together, unpacked. */
const MOST_BYTES = 2 * 1024 ** 3;
/** Zeros behind the end: a small file may have gigabytes of them. */
const MOST_PADDING_BYTES = 1024 ** 2;

/**
 * Reads a set to its end, and believes nothing that it has not checked. Invariants:
 *  - what is behind the manifest is what the manifest says: these names, in this order, of these
 *    sizes and hashes, plain files alone; so a link, a device, a path outside, a second file of one
 *    name and a bomb are each another archive than the manifest describes;
 *  - where a file goes is made of its place in the manifest, and not of a name of the archive;
 *  - one piece of it is in memory at a time.
 * @param folder where the files go, as `0`, `1`, …; empty, and of this user alone. Without one
 *   they are checked and not kept
 * @throws DepotError bad_request that says what is wrong with it
 */
export async function readSet(
  file: string,
  { folder, freeBytes = Infinity }: { folder?: string; freeBytes?: number } = {},
): Promise<Manifest> {
  return guarded(async () => {
    const members = openMembers(file);
    const manifest = await readManifest(members);
    if (!(await isSealed(file))) throw bad(CHANGED);
    const wanted = membersOf(manifest);
    const bytes = wanted.reduce((sum, member) => sum + member.bytes, 0);
    if (bytes > Math.min(MOST_BYTES, freeBytes)) throw bad(`it unpacks to ${bytes} bytes`);
    for (const [index, member] of wanted.entries()) {
      const { value, done } = await members.next();
      if (done === true) throw bad(`${member.name} is missing in it`);
      const target = folder === undefined ? undefined : join(folder, String(index));
      await receive(value, member, target);
    }
    const behind = await members.next();
    if (behind.done !== true) {
      throw bad(`it has ${shown(behind.value.name)}, which it does not name`);
    }
    return manifest;
  });
}

/** What a set says of itself, by its beginning alone: nothing of it is checked but its form. */
export async function readSetHead(file: string): Promise<Manifest> {
  return guarded(async () => {
    const members = openMembers(file);
    const manifest = await readManifest(members);
    await members.return(undefined);
    return manifest;
  });
}

/** Unpacks a set into a folder that is made for it, root's alone; what was there goes. */
export async function unpackSet(file: string, folder: string, freeBytes: number) {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { mode: 0o700 });
  try {
    return await readSet(file, { folder, freeBytes });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function guarded<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof DepotError) throw error;
    // The words of zlib and JSON, such as "incorrect data check", help nobody.
    const isGarbled = error instanceof SyntaxError || systemCode(error)?.startsWith('Z_') === true;
    throw bad(isGarbled ? CHANGED : reasonOf(error));
  }
}

/** As depotd writes it: of a byte in it that nobody reads, such as a time, another is a change. */
const GZIP_HEAD = Buffer.from('1f8b080000000000', 'hex');

async function* openMembers(file: string): AsyncGenerator<TarMember, undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW);
  const unpacked = createGunzip();
  try {
    const { buffer } = await handle.read(Buffer.alloc(10), 0, 10, 0);
    const isOurs = buffer.subarray(0, 8).equals(GZIP_HEAD) && buffer[8] === 0 && buffer[9] === 3;
    if (!isOurs) throw bad(FOREIGN);
    const packed = handle.createReadStream({ start: 0, autoClose: false });
    packed.on('error', (error) => unpacked.destroy(error));
    packed.pipe(unpacked);
    const pieces = leftOpen(unpacked);
    yield* readTar(pieces);
    // The set is read to its end, behind which the checksum of the whole stands.
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.length;
      const isPadding = bytes <= MOST_PADDING_BYTES && piece.every((byte) => byte === 0);
      if (!isPadding) throw bad('something stands behind its end');
    }
  } finally {
    unpacked.destroy();
    await handle.close();
  }
  return undefined;
}

/** A stream that no reader closes, so that a second one goes on where the first one stopped. */
function leftOpen(stream: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const iterator = stream[Symbol.asyncIterator]();
  return { [Symbol.asyncIterator]: () => ({ next: () => iterator.next() }) };
}

async function readManifest(members: AsyncGenerator<TarMember, undefined>): Promise<Manifest> {
  const first = await members.next();
  if (first.done === true || first.value.name !== MANIFEST) throw bad(FOREIGN);
  const { type, sizeBytes, content } = first.value;
  if (type !== PLAIN || sizeBytes > MOST_MANIFEST_BYTES) throw bad(`its ${MANIFEST} is none`);
  return checkManifest(JSON.parse((await allBytes(content)).toString('utf8')));
}

/** Each entry of a hostile manifest has several faults: all together would fill the memory. */
const FIRST_FAULT = { abortEarly: true };

function checkManifest(value: unknown): Manifest {
  const { format } = v.parse(v.looseObject({ format: v.number() }), value);
  if (format > FORMAT) throw bad(`its format ${format} is of a newer version of depotd`);
  const parsed = v.safeParse(manifestSchema, value, FIRST_FAULT);
  if (!parsed.success) {
    const [{ message }] = parsed.issues;
    throw bad(`its ${MANIFEST} is damaged (${v.getDotPath(parsed.issues[0]) ?? ''}: ${message})`);
  }
  const manifest = parsed.output;
  const names = membersOf(manifest).map(({ name }) => name);
  if (new Set(names).size !== names.length) throw bad('it names a file twice');
  const foreign = manifest.files.find(({ path }) => path === '/' || NOT_KEPT.test(path));
  if (foreign !== undefined) throw bad(`${shown(foreign.path)} is no configuration`);
  if (hasTooMuch(manifest)) throw bad('its configuration is too large');
  return manifest;
}

async function receive(found: TarMember, wanted: Member, target: string | undefined) {
  const { name, bytes, sha256 } = wanted;
  if (found.name !== name) throw bad(`it has ${shown(found.name)} in the place of ${name}`);
  if (found.type !== PLAIN) throw bad(`${name} is no plain file in it`);
  if (found.sizeBytes !== bytes) throw bad(`${name} has another size than it should`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  await using file = target === undefined ? undefined : await open(target, flags, 0o600);
  const hash = createHash('sha256');
  for await (const piece of found.content) {
    hash.update(piece);
    await file?.writeFile(piece);
  }
  if (hash.digest('hex') !== sha256) throw bad(`${name} is not what it was: it was changed`);
}

function shown(name: string): string {
  return JSON.stringify(name.slice(0, 200));
}

function bad(why: string): DepotError {
  const remedy = 'Get the file anew from where it was kept, or take another backup.';
  const explanation = { code: 'damaged_package', remedy };
  return new DepotError('bad_request', `cannot use the backup: ${why}`, { explanation });
}
