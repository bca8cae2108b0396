import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { reasonOf } from '../../../errors.ts';
import { isDiskFull } from '../../../device/disk/disk-full.ts';
import { readJson, replaceFile } from '../../../device/durable-file.ts';
import { fileVersion } from '../../../device/file-version.ts';
import { isThere } from '../../../device/is-there.ts';
import { readPart } from '../../../device/owner-file.ts';
import type { Notes } from '../../../device/ports.ts';
import { isPrivateFolder, openTrustedFolder } from '../../../device/private-folder.ts';
import { isShortage } from '../../../device/shortage.ts';
import { downloadFault } from '../../failure.ts';
import { isWebPage, WEB_PAGE, type FeedFault } from '../../feed-settings.ts';
import type { FailedFeed, FeedLists } from '../../manager.ts';
import { byName } from '../../names.ts';
import { ADVICE } from '../../problem.ts';
import type { OpkgConfig } from '../opkg-config.ts';
import { copyList, copyOrRemove, markFetched } from './lists.ts';
import { readParagraphs, readPieces } from './paragraphs.ts';

/**
 * Keeps the package lists over an `opkg update`, which takes a captive portal's page for a list,
 * deletes a list whose signature is bad, and says so with exit code 0. A feed whose new list is
 * good gets it; every other keeps the list that was there. The lists are megabytes, so their copy
 * lies beside them, in memory on OpenWrt, where any user may write: in a folder with a name of its
 * own (mkdtemp(3)) that no other user can look into or replace, and that is on record.
 */
export function createListsBackup(readConfig: () => Promise<OpkgConfig>, notes: Notes): FeedLists {
  /** The copy that a full disk had no room to put on record: the next daemon does not know it. */
  let unrecorded: string | undefined;
  const findCopy = async (): Promise<string | undefined> => {
    if (unrecorded !== undefined) return unrecorded;
    const record = v.safeParse(copyRecord, await notes.read(NOTE));
    return record.success && (await isPrivateFolder(record.output.folder))
      ? record.output.folder
      : undefined;
  };
  const forget = async (): Promise<void> => {
    const copy = await findCopy();
    if (copy !== undefined) await rm(copy, { recursive: true, force: true });
    unrecorded = undefined;
  };
  return {
    backUp: async () => {
      await forget();
      const { listsDir } = await readConfig();
      const lists = await openTrustedFolder(listsDir, 0o755);
      const folder = await mkdtemp(`${lists}.kept-`);
      await notes.write(NOTE, { folder }).catch((error: unknown) => {
        if (!isDiskFull(error)) throw error;
        unrecorded = folder;
      });
      const versions: Record<string, string | undefined> = {};
      for (const entry of await readdir(lists, { withFileTypes: true })) {
        const list = join(lists, entry.name);
        if (!entry.isFile()) continue;
        versions[entry.name] = await fileVersion(list);
        await copyList(list, join(folder, entry.name));
      }
      await writeFile(join(folder, MARKER), JSON.stringify(versions));
    },
    checkFetched: async (context) => {
      const copy = await findCopy();
      if (copy === undefined || !(await isThere(join(copy, MARKER)))) return [];
      const config = await readConfig();
      const lists = await openTrustedFolder(config.listsDir, 0o755);
      const failed = await verdictOn(config, copy);
      for (const { feed } of failed) {
        for (const file of [feed.name, `${feed.name}.sig`]) {
          await copyOrRemove(join(copy, file), join(lists, file));
        }
      }
      const output = (await context?.printed(MOST_OUTPUT_BYTES)) ?? '';
      return failed.map((entry) => withCause(entry, output));
    },
    forget,
  };
}

/** Most of what `opkg update` prints: some lines for each feed. */
const MOST_OUTPUT_BYTES = 256 * 1024;

/** Why a list could not be fetched, opkg alone knows. */
function withCause(failed: FailedFeed, output: string): FailedFeed {
  if (failed.code !== 'download_failed') return failed;
  const faults = output.matchAll(/Failed to download (\S+)\/[^/\s]*, wget returned (\d+)\./g);
  const [, , exitCode] = [...faults].findLast(([, url]) => url === failed.feed.url) ?? [];
  if (exitCode === undefined) return failed;
  return { ...failed, reason: `its list could not be fetched: ${downloadFault(exitCode)}` };
}

/** Note that says where the copy of the lists lies. */
const NOTE = 'lists-copy';
const copyRecord = v.object({ folder: v.string() });
/** Written last when the lists are kept: by name their versions, which a fetch changes. */
const MARKER = '.kept-at';
const versionsBefore = byName(v.string());
/** Written before the first list is put back: one that was put back looks like a good new one. */
const VERDICT = '.verdict';

async function verdictOn(config: OpkgConfig, copy: string): Promise<FailedFeed[]> {
  const file = join(copy, VERDICT);
  const written = await readFile(file, 'utf8').catch(() => undefined);
  if (written !== undefined) return JSON.parse(written) as FailedFeed[];
  const failed: FailedFeed[] = [];
  for (const feed of config.feeds) {
    const fault = await faultOf(config, feed, copy);
    if (fault === undefined) await markFetched(join(config.listsDir, feed.name));
    else failed.push({ feed, code: 'damaged_package', ...fault });
  }
  await replaceFile(file, JSON.stringify(failed));
  return failed;
}

/** @returns why the feed's list is not good, if it is not */
async function faultOf(
  config: OpkgConfig,
  feed: OpkgConfig['feeds'][number],
  copy: string,
): Promise<Omit<FailedFeed, 'feed'> | undefined> {
  const file = join(config.listsDir, feed.name);
  const list = await stat(file).catch(() => undefined);
  if (list === undefined) {
    return config.checksSignatures
      ? { reason: 'its signature is bad or missing', code: 'signature' }
      : { reason: 'its list was not fetched', code: 'download_failed' };
  }
  const known = v.safeParse(versionsBefore, await readJson(join(copy, MARKER)));
  if (known.success && known.output[feed.name] === (await fileVersion(file))) {
    return { reason: 'its list could not be fetched', code: 'download_failed' };
  }
  const before = await stat(join(copy, feed.name)).catch(() => undefined);
  if (list.size === 0 && before !== undefined && before.size > 0) {
    return damagedBy('nothing is left of it');
  }
  const isOther = feed.isGzip && list.size > 0 && !(await isPacked(file));
  return isOther ? notAList(file) : faultInList(file);
}

/** RFC 1952: how a gzip member starts. */
const GZIP_HEAD = Buffer.of(0x1f, 0x8b);

/** Whether a list is packed, by its head alone: it is as large as its feed likes. */
export async function isPacked(file: string): Promise<boolean> {
  return (await readPart(file, GZIP_HEAD.length)).equals(GZIP_HEAD);
}

/** Why a file is no package list as a feed sends it; undefined for one that is. */
export async function faultInList(file: string): Promise<FeedFault | undefined> {
  let [previous, last] = ['', ''];
  try {
    for await (const paragraph of readParagraphs(readPieces(file), () => true)) {
      if (paragraph.trim() === '') continue;
      [previous, last] = [last, paragraph];
      if (!/^Package:[ \t]*\S/m.test(paragraph) || !/^Version:[ \t]*\S/m.test(paragraph)) {
        return await notAList(file);
      }
      // opkg could not fetch such a package: the list was cut off within a paragraph.
      if (!/^Filename:[ \t]*\S/m.test(paragraph)) return damagedBy('a package without a file');
      if (/^SHA256sum:(?![ \t]*[0-9a-f]{64}[ \t\r]*$)/im.test(paragraph)) {
        return damagedBy('a checksum that is cut off');
      }
    }
    const absent = LAST_FIELDS.find((field) => field.test(previous) && !field.test(last));
    return absent === undefined ? undefined : damagedBy('the last package is cut off');
  } catch (error) {
    if (isShortage(error)) throw error;
    return damagedBy(reasonOf(error));
  }
}

export async function notAList(file: string): Promise<FeedFault> {
  return (await isWebPage(file)) ? WEB_PAGE : { reason: 'what it sent is not a package list' };
}

export function damagedBy(what: string): FeedFault {
  return { reason: `its list is damaged (${what})`, remedy: ADVICE.changedOnTheWay };
}

/** What follows a package's file in a list, as far as the feed gives it. */
const LAST_FIELDS = [/^Size:/m, /^SHA256sum:/m, /^MD5Sum:/m];
