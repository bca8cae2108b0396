import { renameSync, rmSync, statSync } from 'node:fs';
import { appendFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { newId } from '../job.ts';
import type { DamagedLine } from './read-journal.ts';

/** The file is for people who look into what happened; it does not grow for ever. */
const MOST_FILE_BYTES = 256 * 1024;
const MOST_TEXT_CHARACTERS = 64 * 1024;

/**
 * Puts lines that cannot be believed into a file of their own, as they were.
 * @returns false if that is not possible
 */
export async function setLinesAside(file: string, lines: readonly DamagedLine[]): Promise<boolean> {
  const kept = lines.filter(({ text }) => text !== '');
  const text = kept.map((line) => `${line.text.slice(0, MOST_TEXT_CHARACTERS)}\n`).join('');
  if (text === '') return true;
  try {
    const { size } = (await stat(file).catch(() => undefined)) ?? { size: 0 };
    if (size <= MOST_FILE_BYTES) await appendFile(file, text, { mode: 0o600, flush: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * Moves what is no file, or no folder, out of the place of one: a file system that was repaired may
 * have a folder there, and a fifo would keep its reader waiting for ever. A link counts as what it
 * leads to; one that leads nowhere stays, since its disk may come back.
 * @returns what stands for it among the damaged records
 * @throws an Error of Node if it cannot be moved
 */
export function moveStrangeAside(path: string, kind: 'isFile' | 'isDirectory'): DamagedLine[] {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined || entry[kind]()) return [];
  rmSync(`${path}.damaged`, { recursive: true, force: true });
  renameSync(path, `${path}.damaged`);
  const damage = `${basename(path)} was no ${kind === 'isFile' ? 'file' : 'folder'}`;
  return [{ id: newId(), number: 0, damage, isOver: true, text: '' }];
}
