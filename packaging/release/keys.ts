import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createApkKey, readApkKey, type ApkKey } from './apk-key.ts';
import { createUsignKey, readUsignKey, type SecretUsignKey } from './usign-key.ts';

/** What packages and feeds are signed with: for opkg one key, for apk another. */
export interface KeyPair {
  opkg: SecretUsignKey;
  apk: ApkKey;
}

export interface ReleaseKeys {
  /** What signs now. */
  current: KeyPair;
  /** What will sign after it: devices learn it from the keyring, and apk's files have both. */
  next: KeyPair | undefined;
}

const OPKG_FILE = 'usign.key';
const APK_FILE = 'apk.pem';
const NEXT_FOLDER = 'next';

/** @throws Error if there are keys already: a new one would lock all subscribers out */
export function makeKeys(folder: string): KeyPair {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of [OPKG_FILE, APK_FILE]) {
    if (existsSync(join(folder, name))) {
      throw new Error(`cannot make keys in ${folder}: there is ${name} already`);
    }
  }
  const write = (name: string, text: string): void =>
    writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' });
  write(OPKG_FILE, createUsignKey());
  write(APK_FILE, createApkKey());
  return readPair(folder);
}

export function readKeys(folder: string): ReleaseKeys {
  const next = join(folder, NEXT_FOLDER);
  return { current: readPair(folder), next: existsSync(next) ? readPair(next) : undefined };
}

export function bothOf({ current, next }: ReleaseKeys): KeyPair[] {
  return next === undefined ? [current] : [current, next];
}

function readPair(folder: string): KeyPair {
  return {
    opkg: readUsignKey(readFileSync(join(folder, OPKG_FILE), 'utf8')),
    apk: readApkKey(readFileSync(join(folder, APK_FILE), 'utf8')),
  };
}

/** Where a device has the public key: opkg looks for it by this name, apk takes any. */
export function opkgKeyPath({ id }: SecretUsignKey): string {
  return `/etc/opkg/keys/${id}`;
}

export function apkKeyPath({ id }: ApkKey): string {
  return `/etc/apk/keys/depotd-${id.slice(0, 8)}.pem`;
}
