import { createHash } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { run } from '../../../device/exec.ts';
import { editOwnerFile, readPart, readSmallFile } from '../../../device/owner-file.ts';
import { openTrustedFolder } from '../../../device/private-folder.ts';
import { DepotError } from '../../../errors.ts';
import {
  keyFiles,
  isWebPage,
  MOST_LIST_BYTES,
  unusableFeed,
  WEB_PAGE,
  type Feed,
  type FeedChange,
  type FeedFault,
  type FeedSettings,
  type TrustedKey,
} from '../../feed-settings.ts';
import { ADVICE } from '../../problem.ts';
import type { FeedSource } from './apk-query.ts';
import { isOnDevice, readEntries, nameIn, nameLine, type FeedEntry } from './feed-lines.ts';
import { HEAD_BYTES, idOfKey, parsePem, readKeyFiles, signerOf } from './index-key.ts';
import type { ApkCommands } from '../changing/commands.ts';
import { cacheFolder } from '../database/apk-locations.ts';

const CUSTOM = 'customfeeds.list';
/** As they lie among what was fetched: apk tells an index, and its format, by its name. */
const [SECOND_FORMAT, THIRD_FORMAT] = ['APKINDEX.tar.gz', 'packages.adb'];
const LIMITS = { timeoutMs: 60_000, maxBytes: 1024 ** 2 };

/** apk's feeds: addresses of indexes in `repositories.d`, and public keys as PEM. */
export function createFeedSettings(source: Omit<FeedSource, 'assertSound'>): FeedSettings {
  const { paths, locations, commands } = source;
  const keyFolder = join(locations.configuration, 'keys');
  const copyOf = async ({ url }: Feed): Promise<string> =>
    join(await openTrustedFolder(await cacheFolder(paths), 0o755), copyName(url));
  return {
    read: async () => {
      const { entries, garbage } = await readEntries(locations.feeds);
      return {
        feeds: entries.map(({ name, url, isEnabled, file }) => {
          const kind = file === CUSTOM ? 'custom' : 'system';
          return { name, url, isEnabled, kind };
        }),
        garbage: garbage.map((line) => ({ ...line, file: join(locations.feeds, line.file) })),
      };
    },
    files: async () => {
      const cache = await cacheFolder(paths);
      const names = await readdir(cache).catch(() => []);
      const lists = names.filter((name) => name.startsWith('APKINDEX.'));
      return {
        settings: [locations.feeds, keyFolder],
        lists: lists.map((name) => join(cache, name)),
      };
    },
    addressOf: (url) =>
      /\.(adb|tar\.gz)$/.test(url) ? url : `${url.replace(/\/+$/, '')}/packages.adb`,
    filesOf: ({ url }) =>
      Promise.resolve([{ url, name: indexName(url), mostBytes: MOST_LIST_BYTES }]),
    check: (feed, folder, key) => checkIndex(commands, keyFolder, { feed, folder, key }),
    adopt: async (feed, folder) => {
      const target = await copyOf(feed);
      const temporary = `${target}.new`;
      try {
        await rm(temporary, { force: true });
        await copyFile(join(folder, indexName(feed.url)), temporary);
        await rename(temporary, target);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
    },
    forget: async (feed) => rm(await copyOf(feed), { force: true }),
    write: (change) => write(locations.feeds, change),
    stateOf: async ({ url }) => {
      const isLocal = isOnDevice(url);
      const own = url.replace(/^file:\/\//, '');
      const file = isLocal ? own : join(await cacheFolder(paths), copyName(url));
      const copy = await stat(file).catch(() => undefined);
      if (copy?.isFile() !== true) return { isLocal };
      const keyId = signerOf(await readPart(file, HEAD_BYTES));
      const updatedAt = Math.floor(copy.mtimeMs / 1000);
      return { updatedAt, isLocal, ...(keyId === undefined ? {} : { keyId }) };
    },
    keys: () => readKeys(keyFolder),
    newKeyName: async (text, folder) => {
      const name = await keyFileName(text, folder);
      const file = join(await openTrustedFolder(keyFolder, 0o755), name);
      const known = await readSmallFile(file, HEAD_BYTES);
      if (known?.trim() === text.trim()) return undefined;
      if (known === undefined) return name;
      const message = `cannot add the key ${name}: another one of that name is trusted already`;
      throw new DepotError('bad_request', message);
    },
    ...keyFiles(keyFolder),
  };
}

function indexName(url: string): string {
  return url.endsWith('.adb') ? THIRD_FORMAT : SECOND_FORMAT;
}

/** How apk names its copy of an index (apk_repository.c). */
function copyName(url: string): string {
  const hash = createHash('sha256').update(url).digest('hex').slice(0, 8);
  return `APKINDEX.${hash}.tar.gz`;
}

/**
 * apk itself judges the index, as a feed of its own that lies on the device, with the keys that the
 * device has and the new one: nothing is fetched, and nothing of the device changed.
 */
async function checkIndex(
  { apk }: Pick<ApkCommands, 'apk'>,
  keyFolder: string,
  { feed, folder, key }: { feed: Feed; folder: string; key: string | undefined },
): Promise<void> {
  const index = join(folder, indexName(feed.url));
  if (await isWebPage(index)) throw unusableFeed(feed, 'damaged_package', WEB_PAGE);
  const [list, keys] = [join(folder, 'repositories'), join(folder, 'keys')];
  await writeFile(list, `${index}\n`);
  await mkdir(keys, { recursive: true });
  for (const { file } of await readKeys(keyFolder)) {
    await copyFile(file, join(keys, file.slice(keyFolder.length + 1)));
  }
  if (key !== undefined) await writeFile(join(keys, await keyFileName(key, folder)), key);
  const command = apk('--wait', '50', '--repositories-file', list, '--keys-dir', keys, 'update');
  const { exitCode, stdout, stderr } = await run(command, LIMITS);
  const [, reason] = /WARNING: \w+ \/\S+: (.+)/.exec(stderr) ?? [];
  if (exitCode === 0 && reason === undefined && stdout.includes(`[${index}]`)) return;
  if (reason?.includes('signature') !== true) {
    const fault = { reason: reason ?? 'apk cannot read what it sent' };
    throw unusableFeed(feed, 'damaged_package', fault);
  }
  const trusted = (await readKeys(keys)).flatMap(({ id, file }) => [id, basename(file)]);
  const signer = signerOf(await readPart(index, HEAD_BYTES));
  throw unusableFeed(feed, 'signature', signatureFault(signer, trusted));
}

function signatureFault(signer: string | undefined, trusted: readonly string[]): FeedFault {
  if (signer === undefined) return { reason: 'it is not signed', remedy: ADVICE.unsigned };
  return trusted.includes(signer)
    ? { reason: `its signature by the key ${signer} does not fit its list` }
    : {
        reason: `it is signed by the key ${signer}, which is not there`,
        remedy: ADVICE.unknownKey,
      };
}

async function readKeys(folder: string): Promise<TrustedKey[]> {
  const files = await readKeyFiles(folder);
  return files.flatMap(({ file, key }) => (key === undefined ? [] : [{ id: idOfKey(key), file }]));
}

/** A signature of the second format names the file of its key; any name does for the third. */
async function keyFileName(text: string, folder: string): Promise<string> {
  const key = parsePem(text);
  if (key === undefined) {
    const fault = 'cannot add the key: it is no public key as PEM (-----BEGIN PUBLIC KEY-----)';
    throw new DepotError('bad_request', fault);
  }
  const second = await readPart(join(folder, SECOND_FORMAT), HEAD_BYTES).catch(() => undefined);
  const named = second === undefined ? undefined : signerOf(second);
  return named !== undefined && /^[A-Za-z0-9][A-Za-z0-9@._-]*$/.test(named)
    ? named
    : `${idOfKey(key)}.pem`;
}

/** Lines are found by where they stand, since apk's feeds have no names of their own. */
async function write(folder: string, change: FeedChange): Promise<void> {
  const { entries } = await readEntries(folder);
  if (change.verb === 'add') {
    const { name, url } = change.feed;
    if (entries.some((entry) => entry.url === url && entry.isEnabled)) return;
    await editOwnerFile(join(folder, CUSTOM), (text) => {
      const end = text === '' || text.endsWith('\n') ? '' : '\n';
      return `${text}${end}${nameLine(name)}\n${url}\n`;
    });
    return;
  }
  const entry = entries.find(({ name }) => name === change.name);
  if (entry === undefined) return;
  await editOwnerFile(join(folder, entry.file), (text) => editLine(text, entry, change));
}

function editLine(
  text: string,
  { index, url }: FeedEntry,
  change: Exclude<FeedChange, { verb: 'add' }>,
): string {
  const lines = text.split('\n');
  const line = lines[index] ?? '';
  // Somebody else changed the feed's file in between.
  if (!line.includes(url)) return text;
  if (change.verb === 'remove') {
    const from = nameIn(lines[index - 1] ?? '') === undefined ? index : index - 1;
    lines.splice(from, index + 1 - from);
  } else {
    const plain = line.replace(/^#+\s*/, '');
    lines[index] = change.isEnabled ? plain : `# ${plain}`;
  }
  return lines.join('\n');
}
