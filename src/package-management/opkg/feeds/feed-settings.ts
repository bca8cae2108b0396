import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { editOwnerFile, readSmallFile } from '../../../device/owner-file.ts';
import type { Paths } from '../../../device/paths.ts';
import { openTrustedFolder } from '../../../device/private-folder.ts';
import { isSignedBy, parseUsign, type UsignKey } from '../../../device/usign.ts';
import { DepotError, reasonOf } from '../../../errors.ts';
import {
  keyFiles,
  isWebPage,
  MOST_LIST_BYTES,
  unusableFeed,
  WEB_PAGE,
  type ConfiguredFeed,
  type Feed,
  type FeedSettings,
  type GarbageLine,
} from '../../feed-settings.ts';
import { ADVICE } from '../../problem.ts';
import { configFiles, type OpkgConfig } from '../opkg-config.ts';
import { editFeedLines, parseFeedLine } from './feed-lines.ts';
import { damagedBy, faultInList, isPacked, notAList } from './lists-backup.ts';
import { copyList, copyOrRemove, markFetched } from './lists.ts';

const CUSTOM = 'customfeeds.conf';
/** Names of a feed's list and signature among what was fetched. */
const [LIST, SIGNATURE] = ['list', 'list.sig'];
/** Largest list unpacked, which has to be in memory as a whole to be verified. */
const MOST_UNPACKED_BYTES = 128 * 1024 ** 2;
/** Largest key or signature of a feed. */
const MOST_KEY_BYTES = 64 * 1024;

/** opkg's feeds: `src/gz NAME URL` in its configuration, and keys of usign's. */
export function createFeedSettings(
  paths: Paths,
  readConfig: () => Promise<OpkgConfig>,
): FeedSettings {
  const keyFolder = paths.onDevice('/etc/opkg/keys');
  const customFile = paths.onDevice(`/etc/opkg/${CUSTOM}`);
  const listsDir = async ({ name }: Pick<Feed, 'name'>): Promise<string> => {
    assertFileName(name);
    return openTrustedFolder((await readConfig()).listsDir, 0o755);
  };
  // A feed that is not there yet will be.
  const isGzip = async (name: string): Promise<boolean> => {
    const { feeds } = await readSetup(configFiles(paths));
    return feeds.find((feed) => feed.name === name)?.isGzip ?? true;
  };
  return {
    read: async () => readSetup(configFiles(paths)),
    files: async () => ({
      settings: ['/etc/opkg', '/etc/opkg.conf'].map(paths.onDevice),
      lists: [(await readConfig()).listsDir],
    }),
    addressOf: (url) => url.replace(/\/Packages(\.gz)?$/, '').replace(/\/+$/, ''),
    filesOf: async ({ name, url }) => [
      {
        url: `${url}/${(await isGzip(name)) ? 'Packages.gz' : 'Packages'}`,
        name: LIST,
        mostBytes: MOST_LIST_BYTES,
      },
      {
        url: `${url}/Packages.sig`,
        name: SIGNATURE,
        mostBytes: MOST_KEY_BYTES,
        isOptional: !(await readConfig()).checksSignatures,
      },
    ],
    check: async (feed, folder, key) => {
      const list = join(folder, LIST);
      const isWhole = !(await isGzip(feed.name)) || (await isPacked(list));
      const fault = await (isWhole ? faultInList(list) : notAList(list));
      if (fault !== undefined) throw unusableFeed(feed, 'damaged_package', fault);
      if (!(await readConfig()).checksSignatures) return;
      const own = key === undefined ? [] : [readKey(key)];
      const trusted = (await readKeys(keyFolder)).map(({ key: each }) => each);
      await checkSignature(feed, folder, [...own, ...trusted]);
    },
    adopt: async ({ name }, folder) => {
      const lists = await listsDir({ name });
      await copyList(join(folder, LIST), join(lists, name));
      await markFetched(join(lists, name));
      await copyOrRemove(join(folder, SIGNATURE), join(lists, `${name}.sig`));
    },
    forget: async ({ name }) => {
      const lists = await listsDir({ name });
      for (const file of [name, `${name}.sig`]) await rm(join(lists, file), { force: true });
    },
    write: async (change) => {
      const meant =
        change.verb === 'set' ? await filesToSwitch(configFiles(paths), change) : [customFile];
      for (const file of meant) await editOwnerFile(file, (text) => editFeedLines(text, change));
    },
    stateOf: async ({ name }) => {
      const { listsDir: folder } = await readConfig();
      const list = await stat(join(folder, name)).catch(() => undefined);
      if (list?.isFile() !== true) return {};
      const text = await readSmallFile(join(folder, `${name}.sig`), MOST_KEY_BYTES);
      const keyId = parseUsign('signature', text ?? '')?.id;
      const updatedAt = Math.floor(list.mtimeMs / 1000);
      return { updatedAt, ...(keyId === undefined ? {} : { keyId }) };
    },
    keys: async () => (await readKeys(keyFolder)).map(({ key, file }) => ({ id: key.id, file })),
    newKeyName: (text) => newKeyName(text, keyFolder),
    ...keyFiles(keyFolder),
  };
}

async function newKeyName(text: string, keyFolder: string): Promise<string | undefined> {
  const key = readKey(text);
  const file = join(await openTrustedFolder(keyFolder, 0o755), key.id);
  const known = parseUsign('key', (await readSmallFile(file, MOST_KEY_BYTES)) ?? '');
  if (known?.bytes.equals(key.bytes) === true) return undefined;
  if (known === undefined) return key.id;
  const message = `cannot add the key ${key.id}: another one of that id is trusted already`;
  throw new DepotError('bad_request', message);
}

/** opkg writes the list under the feed's name: one with a slash would leave the folder. */
function assertFileName(name: string): void {
  if (!/^\.{0,2}$|[/\0]/.test(name)) return;
  throw new DepotError('bad_request', `cannot use the feed ${name}: its list has no file name`);
}

/** Of the lines of a name opkg takes the first; if all are commented out, the last is meant. */
async function readSetup(files: readonly string[]) {
  let feeds: (ConfiguredFeed & { isGzip: boolean })[] = [];
  const garbage: GarbageLine[] = [];
  for (const file of files) {
    const kind = basename(file) === CUSTOM ? 'custom' : 'system';
    const text = await readFile(file, 'latin1').catch(() => '');
    text.split('\n').forEach((line, index) => {
      const entry = parseFeedLine(line);
      if (entry === undefined) return;
      if ('fault' in entry) {
        const shown = line.trim().slice(0, 80);
        garbage.push({ file, line: index + 1, text: shown, reason: entry.fault });
        return;
      }
      const other = feeds.find(({ name }) => name === entry.name);
      if (other?.isEnabled !== true) {
        feeds = [...feeds.filter((feed) => feed !== other), { ...entry, kind }];
      } else if (entry.isEnabled) {
        const reason = `opkg passes over a second feed of the name ${entry.name}`;
        garbage.push({ file, line: index + 1, text: line.trim().slice(0, 80), reason });
      }
    });
  }
  return { feeds, garbage };
}

/** Files whose lines change: one line is switched on, and all that are active off. */
async function filesToSwitch(
  files: readonly string[],
  { name, isEnabled }: { name: string; isEnabled: boolean },
): Promise<string[]> {
  const found: { file: string; isActive: boolean }[] = [];
  for (const file of files) {
    const feed = (await readSetup([file])).feeds.find((each) => each.name === name);
    if (feed !== undefined) found.push({ file, isActive: feed.isEnabled });
  }
  const active = found.filter(({ isActive }) => isActive);
  const meant = isEnabled ? found.slice(active.length === 0 ? -1 : found.length) : active;
  return meant.map(({ file }) => file);
}

async function readKeys(folder: string): Promise<{ key: UsignKey; file: string }[]> {
  const names = (await readdir(folder).catch(() => [])).sort();
  const found = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const key = parseUsign('key', (await readSmallFile(file, MOST_KEY_BYTES)) ?? '');
      // usign opens the file that the signature's id names.
      return key?.id === name ? { key, file } : undefined;
    }),
  );
  return found.filter((entry) => entry !== undefined);
}

function readKey(text: string): UsignKey {
  const key = text.trim().split(/\r?\n/).length === 2 ? parseUsign('key', text.trim()) : undefined;
  if (key !== undefined) return key;
  const message =
    'cannot add the key: it is no public key of usign, which has a comment line and one of base64';
  throw new DepotError('bad_request', message);
}

/** usign's signature is of the list unpacked (opkg-key). */
async function checkSignature(feed: Feed, folder: string, keys: readonly UsignKey[]) {
  const file = join(folder, SIGNATURE);
  const signature = parseUsign('signature', await readFile(file, 'latin1').catch(() => ''));
  if (signature === undefined) {
    if (await isWebPage(file).catch(() => false)) throw unusableFeed(feed, 'signature', WEB_PAGE);
    const reason = 'its signature is none';
    throw unusableFeed(feed, 'signature', { reason, remedy: ADVICE.unsigned });
  }
  const key = keys.find(({ id }) => id === signature.id);
  if (key === undefined) {
    const reason = `it is signed by the key ${signature.id}, which is not there`;
    throw unusableFeed(feed, 'signature', { reason, remedy: ADVICE.unknownKey });
  }
  const list = join(folder, LIST);
  const sent = await readFile(list);
  const unpacked = (await isPacked(list))
    ? promisify(gunzip)(sent, { maxOutputLength: MOST_UNPACKED_BYTES })
    : Promise.resolve(sent);
  const message: Buffer = await unpacked.catch((error: unknown) => {
    throw unusableFeed(feed, 'damaged_package', damagedBy(reasonOf(error)));
  });
  if (isSignedBy(message, signature, key)) return;
  const reason = `its signature by the key ${key.id} does not fit its list`;
  throw unusableFeed(feed, 'signature', { reason });
}
