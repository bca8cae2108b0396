import { lstat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { run } from '../../../device/exec.ts';
import { openTrustedFolder } from '../../../device/private-folder.ts';
import { reasonOf } from '../../../errors.ts';
import type { Fleet } from './fleet.ts';

const LIMIT_MS = 5000;
const MOST_BYTES = 8192;
const MOST_KEYS = 40;

/**
 * What the owner's own program says of the device, as lines `KEY=VALUE`. One that cannot be had is
 * named by an attribute: values that are gone would look as if the device had lost them.
 */
export async function ownAttributes({
  settings,
  scriptEnvironment,
  log,
}: Pick<Fleet, 'settings' | 'scriptEnvironment' | 'log'>): Promise<[string, string][]> {
  const { attributes_script: file } = settings();
  if (file === '') return [];
  try {
    const program = await trustedProgram(file);
    const { exitCode, stdout, cutShortBy } = await run(
      { argv: [program], environment: scriptEnvironment, cwd: '/' },
      { timeoutMs: LIMIT_MS, maxBytes: MOST_BYTES },
    );
    if (cutShortBy === 'time') throw new Error(`it took longer than ${LIMIT_MS / 1000} s`);
    if (cutShortBy === 'output') throw new Error(`it wrote more than ${MOST_BYTES} bytes`);
    if (exitCode !== 0) throw new Error(`it ended with exit code ${exitCode ?? 'none'}`);
    return attributesIn(stdout);
  } catch (error) {
    log.warn({ file, reason: reasonOf(error) }, 'fleet attributes script failed');
    return [['attributes_error', plainText(reasonOf(error))]];
  }
}

/** It runs as this daemon does, so that nobody else may be able to change or replace it. */
async function trustedProgram(file: string): Promise<string> {
  const [folder, name] = [dirname(file), basename(file)];
  if (!isOwn(await lstat(folder))) throw new Error(`others may write in ${folder}`);
  const program = join(await openTrustedFolder(folder), name);
  const entry = await lstat(program);
  if (!entry.isFile()) throw new Error('it is no file');
  if (!isOwn(entry)) throw new Error('others may change it');
  return program;
}

function isOwn({ uid, mode }: { uid: number; mode: number }): boolean {
  return (uid === 0 || uid === process.getuid?.()) && (mode & 0o022) === 0;
}

function attributesIn(text: string): [string, string][] {
  const found = [...text.matchAll(/^([A-Za-z0-9_.-]{1,64})=(.*)$/gm)];
  return found
    .slice(0, MOST_KEYS)
    .map(([, key = '', value = '']) => [`own.${key}`, plainText(value)]);
}

/** Without what could be taken for more than text. */
export function plainText(value: string): string {
  return value.replace(/[\p{C}<>]/gu, '').trim();
}
