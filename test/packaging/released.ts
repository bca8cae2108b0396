import { createHash, createPublicKey, verify } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

import { runCommand, type Outcome } from '../device/command.ts';
import { REPOSITORY } from '../source-tree.ts';
import { bundledProgram } from '../support/bundled-program.ts';
import { createElf } from './elf-file.ts';

/** The time that everything in a release of these tests has. */
export const RELEASED_AT = 1_712_345_678;

/** A folder with keys and a small file that passes for Node, and releases beside them. */
export interface Works {
  folder: string;
  keys: string;
  /** To `folder/NAME`. */
  release: (name: string, options?: ReleaseOptions) => Promise<Outcome>;
  makeKeys: (folder: string) => Promise<Outcome>;
  close: () => Promise<void>;
}

export interface ReleaseOptions {
  keys?: string;
  args?: string[];
  env?: NodeJS.ProcessEnv;
}

export async function createWorks(): Promise<Works> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-release-'));
  const keys = join(folder, 'keys');
  const node = join(folder, 'node-for-musl');
  await writeFile(node, createElf());
  const run = async (script: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const program = await bundledProgram(join(REPOSITORY, 'packaging/release', script));
    return runCommand([process.execPath, program, ...args], {
      cwd: REPOSITORY,
      env: { ...process.env, SOURCE_DATE_EPOCH: String(RELEASED_AT), ...env },
    });
  };
  const works: Works = {
    folder,
    keys,
    release: (name, { keys: other = keys, args = [], env } = {}) => {
      const folders = ['--key-dir', other, '--out', join(folder, name), '--node', node];
      return run('release.ts', [...folders, ...args], env);
    },
    makeKeys: (target) => run('make-keys.ts', [target]),
    close: () => rm(folder, { recursive: true }),
  };
  const made = await works.makeKeys(keys);
  if (made.code !== 0) throw new Error(made.stderr);
  return works;
}

/** Every file below a folder, by its path in it. */
export async function filesIn(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
  return new Map(
    await Promise.all(
      paths.map(async (path) => [path.slice(folder.length + 1), await readFile(path)] as const),
    ),
  );
}

const SIGNATURE = 1;

/** A file of apk's third format: what it says of itself, and by which keys it is signed. */
export interface ThirdFile {
  schema: string;
  database: Buffer;
  signatures: Buffer[];
  /** All but the signatures. */
  unsigned: Buffer;
}

export function readThirdFile(bytes: Buffer): ThirdFile {
  const plain = inflateRawSync(bytes.subarray(4));
  const blocks: { type: number; content: Buffer; whole: Buffer }[] = [];
  for (let at = 8; at < plain.length;) {
    const head = plain.readUInt32LE(at);
    const size = head % 0x40000000;
    const end = at + Math.ceil(size / 8) * 8;
    const content = plain.subarray(at + 4, at + size);
    blocks.push({ type: Math.floor(head / 0x40000000), content, whole: plain.subarray(at, end) });
    at = end;
  }
  const isSignature = ({ type }: { type: number }): boolean => type === SIGNATURE;
  return {
    schema: plain.toString('latin1', 4, 8),
    database: blocks[0]?.content ?? Buffer.alloc(0),
    signatures: blocks.filter(isSignature).map(({ content }) => content),
    unsigned: Buffer.concat([
      plain.subarray(0, 8),
      ...blocks.filter((block) => !isSignature(block)).map(({ whole }) => whole),
    ]),
  };
}

/** Whether a file of the third format is signed with the key whose PEM this is. */
export function isSignedWith({ schema, database, signatures }: ThirdFile, pem: string): boolean {
  const key = createPublicKey(pem);
  const digest = createHash('sha512').update(database).digest();
  return signatures.some((signature) => {
    const head = signature.subarray(0, 18);
    const signed = Buffer.concat([Buffer.from(schema, 'latin1'), head, digest]);
    return verify('sha512', signed, key, signature.subarray(18));
  });
}

export interface Served {
  url: string;
  close: () => Promise<void>;
}

/** A folder over HTTP on the loopback interface, read anew for each request. */
export async function serve(folder: string): Promise<Served> {
  const server = createServer((request, response) => {
    readFile(join(folder, decodeURIComponent(request.url ?? ''))).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
