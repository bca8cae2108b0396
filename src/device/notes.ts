import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from './durable-file.ts';
import type { Notes } from './ports.ts';

export function createNotes(folder: string): Notes {
  const fileOf = (name: string): string => join(folder, `${name}.json`);
  return {
    read: async (name) => {
      const text = await readFile(fileOf(name), 'utf8').catch(() => undefined);
      return text === undefined ? undefined : parse(text);
    },
    write: (name, value) => replaceFile(fileOf(name), `${JSON.stringify(value)}\n`),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Whoever reads it treats a damaged note as none.
    return undefined;
  }
}
