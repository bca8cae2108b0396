import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { gzipSync, inflateRawSync, type InflateRaw } from 'node:zlib';

import { createUnendedTar } from '../../../packaging/apk.ts';
import { installedBytes } from '../../../packaging/package-files.ts';
import { createTar } from '../../../packaging/tar.ts';
import { createApk, describe, type Apk, type ApkSource } from './apk.ts';
import { MODIFIED_AT } from '../tar.ts';

export interface ApkFeedPackage extends ApkSource {
  /** What the index says wrongly: a checksum that does not fit, or a file that is not there. */
  listing?: 'wrong-checksum' | 'no-file';
  /** What the index says the package takes on the disk; by default what it does take. */
  installedSizeBytes?: number;
}

/** Whose signature the index has: of a key that the device trusts, of another one, or nobody's. */
export type IndexSigner = 'trusted' | 'other' | 'nobody';

/**
 * The name of a feed's index. apk takes the second format only under a name that does not end in
 * `.adb`.
 */
export const INDEX_NAME = 'APKINDEX.tar.gz';

/** Of the public key below `etc/apk/keys`; the signature in the index names it. */
export const KEY_NAME = 'lab.pem';
/** Of a key that no device has. */
export const OTHER_KEY_NAME = 'other.pem';

type Pairs = Map<IndexSigner, { publicKey: string; privateKey: KeyObject }>;

/** Of this process, whatever modules it loads anew for the next file of tests. */
const PAIRS = Symbol.for('keys of apk feeds');
const shared = globalThis as unknown as { [PAIRS]: Pairs | undefined };
const pairs: Pairs = (shared[PAIRS] ??= new Map());

/** The device's trusted key, PEM. Made once for each process; one of 2,048 bits takes 0.13 s. */
export function publicKey(): string {
  return pairOf('trusted').publicKey;
}

function pairOf(signer: IndexSigner): { publicKey: string; privateKey: KeyObject } {
  const known = pairs.get(signer);
  if (known !== undefined) return known;
  const pair = generateKeyPairSync('rsa', { modulusLength: 1024 });
  const made = {
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: pair.privateKey,
  };
  pairs.set(signer, made);
  return made;
}

/** The signature that goes in front of a package file of the second format. */
export function apkSignature(bytes: Buffer, signer: Exclude<IndexSigner, 'nobody'>): Buffer {
  const keyName = signer === 'trusted' ? KEY_NAME : OTHER_KEY_NAME;
  return signatureOf(bytes.subarray(0, firstMember(bytes)), { signer, keyName });
}

/** How many bytes its first gzip member has, whose header is without options (RFC 1952). */
function firstMember(bytes: Buffer): number {
  const [header, trailer] = [10, 8];
  const { engine } = inflateRawSync(bytes.subarray(header), { info: true }) as unknown as {
    engine: InflateRaw;
  };
  return header + engine.bytesWritten + trailer;
}

/** The files of a feed by name: the index and the packages. */
export function createApkFeedFiles(
  packages: readonly ApkFeedPackage[],
  signer: IndexSigner = 'trusted',
): Map<string, Buffer> {
  const apks = packages.map((source) => ({ source, apk: createApk(source) }));
  const text = apks.map(({ source, apk }) => `${stanzaOf(source, apk)}\n`).join('');
  const files = new Map([[INDEX_NAME, createIndex(text, signer)]]);
  for (const { source, apk } of apks) {
    if (source.listing !== 'no-file') files.set(apk.fileName, apk.bytes);
  }
  return files;
}

/** An index of apk's second format: the signature's archive, then that of the text. */
function createIndex(text: string, signer: IndexSigner): Buffer {
  const member = { name: 'APKINDEX', mode: 0o644, content: Buffer.from(text) };
  const index = gzipSync(createTar([member], MODIFIED_AT));
  return signer === 'nobody'
    ? index
    : Buffer.concat([signatureOf(index, { signer, keyName: KEY_NAME }), index]);
}

function signatureOf(
  signed: Buffer,
  { signer, keyName }: { signer: IndexSigner; keyName: string },
): Buffer {
  const content = createSign('sha256').update(signed).sign(pairOf(signer).privateKey);
  const signature = { name: `.SIGN.RSA256.${keyName}`, mode: 0o644, content };
  return gzipSync(createUnendedTar([signature], MODIFIED_AT));
}

const WRONG_IDENTITY = 'Q1AAAAAAAAAAAAAAAAAAAAAAAAAAA=';

function stanzaOf(source: ApkFeedPackage, apk: Apk): string {
  return stanzaText(apk, {
    identity: source.listing === 'wrong-checksum' ? WRONG_IDENTITY : apk.identity,
    installedSizeBytes: source.installedSizeBytes ?? installedBytes(apk.files),
  });
}

export interface Listed {
  identity: string;
  installedSizeBytes: number;
}

/** What indexes and the database of installed packages say alike (apk-v2 format), line by line. */
export function stanzaText(apk: Apk, { identity, installedSizeBytes }: Listed): string {
  const { source } = apk;
  const lines: [field: string, value: string | undefined][] = [
    ['C', identity],
    ['P', source.name],
    ['V', source.version],
    ['A', source.architecture ?? 'noarch'],
    ['S', String(apk.bytes.length)],
    ['I', String(installedSizeBytes)],
    ['T', describe(source)],
    ['U', `https://example.invalid/${source.name}`],
    ['L', source.licence ?? 'MIT'],
    ['o', source.origin ?? `feeds/lab/${source.name}`],
    ['k', source.providerPriority === undefined ? undefined : String(source.providerPriority)],
    ['D', joined(source.depends)],
    ['p', joined(source.provides)],
    ['i', joined(source.installIf)],
  ];
  return lines
    .flatMap(([field, value]) => (value === undefined ? [] : `${field}:${value}\n`))
    .join('');
}

function joined(names: readonly string[] | undefined): string | undefined {
  return names === undefined || names.length === 0 ? undefined : names.join(' ');
}
