import { readFile, realpath, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { readSmallFile } from '../../../device/owner-file.ts';
import type { Paths } from '../../../device/paths.ts';
import { DepotError, reasonOf, systemCode, type Explanation } from '../../../errors.ts';
import {
  removeUnfinished,
  replaceFile,
  rewriteFile,
  syncPath,
} from '../../../device/durable-file.ts';
import { isThere } from '../../../device/is-there.ts';
import { readUciOption, setUciOption, type UciPlace } from '../../../config/uci-edit.ts';

const DEFAULT_ROOT = '/var/lib/docker';
const DATA_ROOT: UciPlace = { section: 'globals', type: 'globals', option: 'data_root' };
const ALT_CONFIG_FILE: UciPlace = { ...DATA_ROOT, option: 'alt_config_file' };

/** Where the engine's data root is set. */
interface DataRootSetting {
  path: string;
  /** The file that a switch writes. */
  file: string;
  kind: 'uci' | 'json';
  /** The file as it is; undefined if there is none. */
  text?: string | undefined;
}

/** The setting of the data root, and what there is to know of it. */
export interface KnownSetting extends DataRootSetting {
  /** `dockerd.globals.alt_config_file`: a file that takes the place of these settings. */
  elsewhere: string | undefined;
  /** If UCI has changes to it that are not committed, and so would come back. */
  uncommittedFile: string | undefined;
}

/** OpenWrt's UCI file `dockerd`, or the engine's own daemon.json. */
export function createDataRootSettings(paths: Paths) {
  return {
    read: () => read(paths),
    /** Sets another path where it was read, and nothing else; on the medium when it resolves. */
    write: async (setting: DataRootSetting, path: string): Promise<void> =>
      replace(setting.file, edit(setting, (await readText(setting.file)) ?? '', path)),
    /** Undoes `write`, but for what somebody else has changed in the file since. */
    restore: async (setting: DataRootSetting, written: string): Promise<void> => {
      const { file, text, path } = setting;
      const now = await readText(file);
      if (now === text) return;
      // What was written is there and nothing else has changed: back to the letter.
      const isOurs = now !== undefined && now === edit(setting, text ?? '', written);
      if (isOurs && text === undefined) {
        await rm(file, { force: true });
        await syncPath(dirname(file));
      } else await replace(file, isOurs ? (text ?? '') : edit(setting, now ?? '', path));
    },
  };
}

/** @throws DepotError internal if a file is there and cannot be read */
async function read(paths: Paths): Promise<KnownSetting> {
  const uciFile = join(paths.uciDir, 'dockerd');
  const jsonFile = paths.onDevice('/etc/docker/daemon.json');
  const [uci, json, uncommittedFile] = await Promise.all([
    readText(uciFile),
    readText(jsonFile),
    findChanges(paths),
  ]);
  const optionOf = (place: UciPlace): string | undefined =>
    readUciOption(uci ?? '', place) || undefined;
  const known = { elsewhere: optionOf(ALT_CONFIG_FILE), uncommittedFile };
  const fromUci = optionOf(DATA_ROOT);
  const isJson = fromUci === undefined && json !== undefined;
  const fromJson = isJson ? dataRootIn(json, jsonFile) : undefined;
  const path = (fromUci ?? fromJson ?? DEFAULT_ROOT).replace(/(?<=.)\/+$/, '');
  // If neither names it, the one is set that the init script reads.
  const isUci = fromUci !== undefined || (fromJson === undefined && uci !== undefined);
  return isUci
    ? { path, file: uciFile, kind: 'uci', text: uci, ...known }
    : { path, file: jsonFile, kind: 'json', text: json, ...known };
}

const MOST_BYTES = 1024 ** 2;

/** Where uci(1) keeps changes until they are committed. */
async function findChanges(paths: Paths): Promise<string | undefined> {
  const file = paths.onDevice('/tmp/.uci/dockerd');
  // Any user may have made the file's folder first.
  return (await readSmallFile(file, MOST_BYTES)) ? file : undefined;
}

function dataRootIn(text: string, file: string): string | undefined {
  const settings = parseObject(text, file)['data-root'];
  return typeof settings === 'string' && settings !== '' ? settings : undefined;
}

const object = v.record(v.string(), v.unknown());

function parseObject(text: string, file: string): Record<string, unknown> {
  try {
    return text.trim() === '' ? {} : v.parse(object, JSON.parse(text));
  } catch (error) {
    const message = `cannot read ${file}: ${reasonOf(error)}`;
    throw new DepotError('internal', message, { cause: error, explanation: BROKEN });
  }
}

const BROKEN: Explanation = {
  code: 'not_allowed',
  remedy: 'Mend what the message names, then start the task again.',
};

/** Whether daemon.json is no JSON, as while somebody edits it. */
export function isBrokenSetting(error: unknown): boolean {
  return error instanceof DepotError && error.explanation === BROKEN;
}

function edit({ kind, file }: DataRootSetting, text: string, path: string): string {
  if (kind === 'uci') return setUciOption(text, DATA_ROOT, path);
  const indent = /^[ \t]+(?=")/m.exec(text)?.[0] ?? '  ';
  const settings = { ...parseObject(text, file), 'data-root': path };
  return `${JSON.stringify(settings, null, indent)}\n`;
}

async function readText(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return undefined;
    throw new DepotError('internal', `cannot read ${file}: ${reasonOf(error)}`, { cause: error });
  });
}

/** A link stays one, with owner and mode. What a killed daemon left beside it goes. */
async function replace(file: string, text: string): Promise<void> {
  const real = await realpath(file).catch(() => file);
  await removeUnfinished(real);
  if (await isThere(real)) await rewriteFile(real, text);
  else await replaceFile(real, text, 0o644);
}
