import { readFile } from 'node:fs/promises';

/** undefined for a file that is not there, or damaged: then nothing is known of before. */
export async function readJson(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, 'utf8'));
  } catch {
    return undefined;
  }
}
