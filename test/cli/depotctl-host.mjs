// `node depotctl-host.mjs PROGRAM`: runs depotctl for one message after the other, each as PROGRAM
// does it in modules of its own. To start Node for each takes more processor than all that it does.
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [, , PROGRAM] = process.argv;
const STREAMS = ['stdout', 'stderr'];

/** What keeps Node from ending. */
const open = () =>
  process
    .getActiveResourcesInfo()
    .filter((name) => name !== 'CloseReq')
    .sort()
    .join();
// They are open from their first use on.
void STREAMS.map((name) => process[name]);
let runs = 0;

/** Comes to its end when a process of its own would. */
async function run({ words, env }, atFirst) {
  const outcome = { stdout: '', stderr: '' };
  for (const name of STREAMS) {
    process[name].write = (piece) => {
      outcome[name] += String(piece);
      return true;
    };
  }
  process.argv = [process.execPath, PROGRAM, ...words];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  // Each address is a module of its own.
  await import(`${pathToFileURL(PROGRAM).href}?${(runs += 1)}`);
  while (open() !== atFirst) await delay(1, undefined, { ref: false });
  for (const name of STREAMS) process[name].removeAllListeners('error');
  process.removeAllListeners('SIGINT');
  process.send({ ...outcome, code: process.exitCode ?? 0 });
  process.exitCode = 0;
}

process.on('message', (message) => run(message, open()));
