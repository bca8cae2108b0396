import { writeFile } from 'node:fs/promises';

import { createDatabaseReader } from '../../../../src/package-management/opkg/database/status-file.ts';
import { withoutDescriptors } from '../../../support/without-descriptors.ts';

/** Reads a status file that changed while no descriptor was left, and prints what came of it. */
const [file = ''] = process.argv.slice(2);
const stanza = (name: string): string => `Package: ${name}\nStatus: install user installed\n\n`;
const reader = createDatabaseReader({
  statusFiles: () => Promise.resolve([file]),
  isLocked: () => Promise.resolve(false),
  hasControl: () => Promise.resolve(false),
});
const read = async (): Promise<string[]> => [...(await reader.read()).keys()];
await writeFile(file, stanza('one'));
const before = await read();
await writeFile(file, stanza('one') + stanza('two'));
const meanwhile = await withoutDescriptors(read);
process.stdout.write(JSON.stringify({ before, meanwhile, after: await read() }));
