import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';

import { openJournalFile } from '../../../src/jobs/journal/journal-file.ts';

/** Replaces a journal with one descriptor left, adds a line when there are more, and prints it. */
const [path = ''] = process.argv.slice(2);
const file = await openJournalFile(path, 0);
await file.append('first\n', 0);
spawnSync('prlimit', ['--pid', String(process.pid), '--nofile=100:']);
const used: number[] = [];
const useUp = (): void => {
  for (;;) used.push(openSync('/dev/null', 'r'));
};
let shortage = '';
try {
  useUp();
} catch (error) {
  shortage = String(error);
}
closeSync(used.pop() ?? -1);
const replaced = await file.replace('compacted\n', 0).then(
  () => 'replaced',
  (error: unknown) => String(error),
);
for (const descriptor of used) closeSync(descriptor);
await file.append('second\n', 0);
const text = readFileSync(path, 'utf8').trim();
process.stdout.write(JSON.stringify({ shortage, replaced, text }));
