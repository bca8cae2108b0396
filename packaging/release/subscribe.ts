import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from '../packages.ts';
import { apkKeyPath, bothOf, opkgKeyPath, type ReleaseKeys } from './keys.ts';

/** subscribe.sh with the public keys in it, and the address if it is known. */
export function subscribeScript({
  keys,
  url = '',
}: {
  keys: ReleaseKeys;
  url: string | undefined;
}): string {
  if (!/^(?:https?:\/\/[\w.:/~[\]-]+)?$/.test(url)) {
    throw new Error(`cannot write ${url} into subscribe.sh: an address without special characters`);
  }
  const pairs = bothOf(keys);
  const texts: [mark: string, text: string][] = [
    ['@URL@', url.replace(/\/+$/, '')],
    [
      '@OPKG_KEYS@',
      pairs.map(({ opkg }) => putText(opkgKeyPath(opkg), opkg.publicText)).join('\t'),
    ],
    ['@APK_KEYS@', pairs.map(({ apk }) => putText(apkKeyPath(apk), apk.publicPem)).join('\t')],
  ];
  const script = readFileSync(join(REPOSITORY, 'packaging/release/subscribe.sh'), 'utf8');
  return texts.reduce((text, [mark, value]) => text.replace(mark, () => value.trimEnd()), script);
}

function putText(path: string, content: string): string {
  return `put ${path} <<'KEY'\n${content}KEY\n`;
}
