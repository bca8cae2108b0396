import { open, stat } from 'node:fs/promises';
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
  try {
    const size = await stat(file).then(
      (entry) => entry.size,
      () => 0,
    );
    if (text === '' || size > MOST_FILE_BYTES) return true;
    const handle = await open(file, 'a', 0o600);
    try {
      await handle.appendFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    return true;
  } catch {
    return false;
  }
}
