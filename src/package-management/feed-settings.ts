import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeUnfinished, replaceFile } from '../device/durable-file.ts';
import { readPart } from '../device/owner-file.ts';
import { openTrustedFolder } from '../device/private-folder.ts';
import { DepotError } from '../errors.ts';
import { ADVICE, feedRemedyOf, type ProblemCode } from './problem.ts';

/**
 * The feeds as the package manager's own files have them, and changing those files. What a change
 * fetched lies in a folder of its own until it is checked.
 */
export interface FeedSettings {
  read: () => Promise<{ feeds: readonly ConfiguredFeed[]; garbage: readonly GarbageLine[] }>;
  /** The address as it is to stand in the file. */
  addressOf: (url: string) => string;
  /** What has to be fetched to check the feed. */
  filesOf: (feed: Feed) => Promise<FeedFile[]>;
  /**
   * Whether what was fetched is a list that this device accepts.
   * @param key text of a public key that is to be trusted, too
   * @throws DepotError command_failed, with `signature` or `damaged_package` for its explanation
   */
  check: (feed: Feed, folder: string, key?: string) => Promise<void>;
  /** Puts what was fetched in the place of the feed's list. Safe to do again. */
  adopt: (feed: Feed, folder: string) => Promise<void>;
  /** Removes the feed's list. */
  forget: (feed: Feed) => Promise<void>;
  /** Writes a change of feeds; safe to do again. @throws DepotError unavailable, no_space */
  write: (change: FeedChange) => Promise<void>;
  /** Files and folders of the feeds' settings and keys, and those of their lists. */
  files: () => Promise<{ settings: readonly string[]; lists: readonly string[] }>;
  /** The state of the feed's list on the device. */
  stateOf: (feed: Feed) => Promise<FeedState>;
  keys: () => Promise<TrustedKey[]>;
  /**
   * @param folder what was fetched with it: a list may say how its key is called
   * @returns the name of the file for a key; undefined if that key is trusted already
   * @throws DepotError bad_request for what is no key, or would replace another one
   */
  newKeyName: (text: string, folder: string) => Promise<string | undefined>;
  /** Adds the key of a feed; safe to do again. */
  addKey: (name: string, text: string) => Promise<void>;
  removeKey: (name: string) => Promise<void>;
}

export interface Feed {
  name: string;
  url: string;
}

export interface ConfiguredFeed extends Feed {
  /** `system`: came with the firmware; may be switched off, and not removed. */
  kind: 'system' | 'custom';
  isEnabled: boolean;
}

/** A line that the package manager does not understand. */
export interface GarbageLine {
  file: string;
  /** Number of the line, from 1. */
  line: number;
  text: string;
  reason: string;
}

export interface FeedFile {
  url: string;
  /** The file's name in the folder of what was fetched. */
  name: string;
  mostBytes: number;
  /** Whether the feed is good without it. */
  isOptional?: boolean;
}

export type FeedChange =
  | { verb: 'add'; feed: Feed }
  | { verb: 'remove'; name: string }
  | { verb: 'set'; name: string; isEnabled: boolean };

export interface FeedState {
  /** When the list was fetched, Unix seconds; missing without one. */
  updatedAt?: number;
  /** The id of the key that signed the list; undefined if the list does not name it. */
  keyId?: string;
  /** Whether the list is read where it is, on the device: it is never fetched. */
  isLocal?: boolean;
}

export interface TrustedKey {
  id: string;
  file: string;
}

/** An address for examples (RFC 2606), as in the comment that OpenWrt ships. */
export const EXAMPLE = /^https?:\/\/([^/]*\.)?example\.(com|net|org)(\/|$)/;

/** Largest list of a feed as it is sent. */
export const MOST_LIST_BYTES = 64 * 1024 ** 2;

/** What is wrong with a list, as a clause, and what can be done if that is known better. */
export interface FeedFault {
  reason: string;
  remedy?: string;
}

export const WEB_PAGE: FeedFault = {
  reason: 'what it sent is not a package list but a web page',
  remedy: ADVICE.webPage,
};

/** Whether a log-in page of the network answered, or an error page of a server. */
export async function isWebPage(file: string): Promise<boolean> {
  const head = (await readPart(file, 512)).toString('latin1');
  return /^\s*<(?:!|\?xml|html|head|body|script|meta)/i.test(head);
}

/** The url is what was asked for: the feed's own address, or that of one of its files. */
export function unusableFeed(
  { name, url }: Feed,
  code: ProblemCode,
  { reason, remedy = feedRemedyOf(code) }: FeedFault,
): DepotError {
  const kind = code === 'no_space' ? 'no_space' : 'command_failed';
  const message = `cannot use the feed ${name} (${url}): ${reason}`;
  return new DepotError(kind, message, { explanation: { code, remedy } });
}

/** Keys as files of a folder that is root's alone. */
export function keyFiles(folder: string): Pick<FeedSettings, 'addKey' | 'removeKey'> {
  const fileOf = async (name: string): Promise<string> =>
    join(await openTrustedFolder(folder, 0o755), name);
  return {
    addKey: async (name, text) => {
      const file = await fileOf(name);
      await removeUnfinished(file);
      await replaceFile(file, `${text.trim()}\n`, 0o644);
    },
    removeKey: async (name) => rm(await fileOf(name), { force: true }),
  };
}
