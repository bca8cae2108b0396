// Runs depotctl once for each list of words, in one process: a process for each takes 0.15 s of
// processor. Arguments: the program, and a file with the lists; prints what each has written.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const LIMIT_MS = 8000;

const [program = '', file = ''] = process.argv.slice(2);
const lists = JSON.parse(readFileSync(file, 'utf8')) as string[][];
const print = process.stdout.write.bind(process.stdout);
// Each listens for Ctrl-C.
process.setMaxListeners(0);
const outcomes: { stdout: string; stderr: string }[] = [];
for (const [index, words] of lists.entries()) {
  const outcome = { stdout: '', stderr: '' };
  outcomes.push(outcome);
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].setMaxListeners(0);
    process[name].write = (piece: string | Uint8Array) => {
      outcome[name] += String(piece);
      return true;
    };
  }
  process.argv = [process.execPath, program, ...words];
  // Each address is a module of its own.
  const ended = import(`${pathToFileURL(program).href}?${index}`);
  await Promise.race([ended, delay(LIMIT_MS, undefined, { ref: false })]);
}
print(JSON.stringify(outcomes), () => process.exit(0));
