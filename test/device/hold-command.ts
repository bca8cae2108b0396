import { createProcesses } from '../../src/device/processes.ts';

/**
 * A daemon that holds a command and does not come to say go: PATH, the exit file, and the text for
 * a shell.
 */
const [path = '', exitFile = '', text = ''] = process.argv.slice(2);
await createProcesses().start({
  jobId: 'f'.repeat(32),
  command: { argv: ['sh', '-c', text], environment: { PATH: path }, cwd: '/' },
  logFile: `${exitFile}.log`,
  exitFile,
});
process.stdout.write('held\n');
setInterval(() => undefined, 1000);
