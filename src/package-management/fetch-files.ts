import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { timeLimit, type Command } from '../device/command.ts';
import { freeBytesOf } from '../device/disk/space.ts';
import { run } from '../device/exec.ts';
import type { Paths } from '../device/paths.ts';
import { openPrivateFolder } from '../device/private-folder.ts';
import { sizeText } from '../format-bytes.ts';
import { downloadFault } from './failure.ts';
import { ADVICE } from './problem.ts';
import { unusableFeed, type Feed, type FeedFile, type FeedSettings } from './feed-settings.ts';
import type { BackendContext } from './manager.ts';

export interface FetchTools extends Pick<BackendContext, 'environment'> {
  feeds: Pick<FeedSettings, 'filesOf' | 'check'>;
  paths: Pick<Paths, 'uploadDir'>;
}

/**
 * Fetches what a feed is checked by, and checks it.
 * @param key text of a public key that is to be trusted, too
 * @returns the folder that has it, to be removed by the caller
 * @throws DepotError as `fetchFiles` and `FeedSettings.check` do: then nothing is left
 */
export async function fetchChecked(
  { feeds, paths: { uploadDir }, environment }: FetchTools,
  feed: Feed,
  { key, signal }: { key?: string | undefined; signal: AbortSignal },
): Promise<string> {
  await (await openPrivateFolder(uploadDir)).close();
  // Jobs that do this run one at a time: these are of one that was killed.
  for (const name of await readdir(uploadDir)) {
    if (name.startsWith(PREFIX)) await rm(join(uploadDir, name), { recursive: true, force: true });
  }
  const folder = await mkdtemp(join(uploadDir, PREFIX));
  try {
    await fetchFiles(feed, await feeds.filesOf(feed), { folder, environment, signal });
    await feeds.check(feed, folder, key);
    return folder;
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

const PREFIX = 'feed-';

interface FetchOptions extends Pick<FetchTools, 'environment'> {
  /** Folder that the fetched files go to. */
  folder: string;
  signal: AbortSignal;
}

/** Limit for each file, from the start of the program. */
const LIMIT_MS = 120_000;
/** A download that brings no byte for so long is given up. */
const SILENCE_S = 20;
const SETTINGS_NAME = 'wgetrc';
const LOOK_MS = 100;
/** GNU's wget tries twenty times by itself; uclient-fetch and busybox's read no such file. */
const SETTINGS = 'tries = 2\nmax_redirect = 5\n';

/**
 * Fetches by the device's own wget, as opkg and apk do: with its proxy, its certificates and its
 * resolver. It speaks HTTP and HTTPS alone, so that no redirection leads to a file of the device.
 * A file that grows beyond its limit ends it.
 * @throws DepotError command_failed, no_space with `download_failed`, `no_space` explained
 */
async function fetchFiles(feed: Feed, files: readonly FeedFile[], options: FetchOptions) {
  await writeFile(join(options.folder, SETTINGS_NAME), SETTINGS);
  for (const file of files) {
    const fault = await fetchFile(file, options);
    options.signal.throwIfAborted();
    if (fault === undefined) continue;
    if (file.isOptional === true) {
      // Some programs leave an empty file, or a piece of one, which is no signature.
      await rm(join(options.folder, file.name), { force: true });
      continue;
    }
    const asked = { name: feed.name, url: file.url };
    // wget's own word for it is the exit code of any fault of a file, and not every wget has that.
    if ((await freeBytesOf(options.folder)) < LEAST_FREE_BYTES) {
      throw unusableFeed(asked, 'no_space', { reason: `${options.folder} has no room for it` });
    }
    const redirect = await redirectOf(feed, file.url, options.signal);
    throw unusableFeed(asked, 'download_failed', { reason: fault, ...redirect });
  }
}

/** Free bytes of a full disk: what is written in pieces does not fill the last of them. */
const LEAST_FREE_BYTES = 8 * 1024;

/** @returns what went wrong, if something did */
async function fetchFile(
  { url, name, mostBytes }: FeedFile,
  { folder, environment, signal }: FetchOptions,
): Promise<string | undefined> {
  const target = join(folder, name);
  const tooLarge = new AbortController();
  const timer = setInterval(() => {
    void sizeOf(target).then((size) => size > mostBytes && tooLarge.abort());
  }, LOOK_MS);
  const command: Command = {
    argv: ['wget', '-q', '-T', `${SILENCE_S}`, '-O', target, url],
    environment: { ...environment, WGETRC: join(folder, SETTINGS_NAME) },
    cwd: folder,
  };
  const limits = { timeoutMs: LIMIT_MS, maxBytes: 64 * 1024 };
  try {
    const ended = AbortSignal.any([signal, tooLarge.signal]);
    const { exitCode, cutShortBy, stderr } = await run(command, { ...limits, signal: ended });
    if ((await sizeOf(target)) > mostBytes) return `it is larger than ${sizeText(mostBytes)}`;
    if (cutShortBy !== undefined) return `it did not come within ${LIMIT_MS / 1000} s`;
    if (exitCode === undefined) return `wget cannot be started: ${stderr.slice(0, 200)}`;
    return exitCode === 0 ? undefined : downloadFault(String(exitCode));
  } finally {
    clearInterval(timer);
  }
}

async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

const LOOK_LIMIT_MS = 5000;
const MOST_SHOWN = 300;

/**
 * Whether a download failed at a redirection: wget does not say, and uclient-fetch follows none
 * that leads where it cannot go. One request for the head alone, not followed.
 * @param asked the file that could not be fetched
 * @returns that as a clause, and what can be done
 */
export async function redirectOf(
  { url }: Pick<Feed, 'url'>,
  asked: string,
  signal?: AbortSignal,
): Promise<{ reason: string; remedy: string } | undefined> {
  const target = await locationOf(asked, signal).catch(() => undefined);
  if (target === undefined) return undefined;
  const file = asked.startsWith(url) ? asked.slice(url.length) : '';
  const name = new URL(asked).pathname.split('/').at(-1) ?? '';
  // A redirect to another file is no list: a network's log-in page answers so.
  const isList = name !== '' && new URL(target).pathname.endsWith(`/${name}`);
  const isFeed = isList && target.endsWith(file);
  const address = isFeed ? target.slice(0, target.length - file.length) : target;
  const reason = `it answers with a redirect to ${address.slice(0, MOST_SHOWN)}`;
  return { reason, remedy: isList ? ADVICE.redirected : ADVICE.webPage };
}

/** @returns a URL that may be shown: without a password, each odd byte as an escape */
async function locationOf(address: string, signal?: AbortSignal): Promise<string | undefined> {
  const isTls = new URL(address).protocol === 'https:';
  const { request } = isTls ? await import('node:https') : await import('node:http');
  const location = await new Promise<string | undefined>((resolve, reject) => {
    const limits = [timeLimit(LOOK_LIMIT_MS), ...(signal === undefined ? [] : [signal])];
    const asking = request(address, { method: 'HEAD', signal: AbortSignal.any(limits) });
    asking.on('error', reject);
    asking.on('response', (response) => {
      const { statusCode = 0, headers } = response;
      asking.destroy();
      resolve(statusCode > 300 && statusCode < 400 ? headers.location : undefined);
    });
    asking.end();
  });
  if (location === undefined) return undefined;
  const target = new URL(location, address);
  if (target.protocol !== 'http:' && target.protocol !== 'https:') return undefined;
  target.username = '';
  target.password = '';
  return target.href;
}
