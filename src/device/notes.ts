import { join } from 'node:path';
import { readJson, replaceFile } from './durable-file.ts';
import type { Notes } from './ports.ts';

export function createNotes(folder: string): Notes {
  const fileOf = (name: string): string => join(folder, `${name}.json`);
  return {
    read: (name) => readJson(fileOf(name)),
    write: (name, value) => replaceFile(fileOf(name), `${JSON.stringify(value)}\n`),
  };
}
