import { startDaemon } from './daemon.ts';
import { createDevice } from './device.ts';

/** Starts a daemon on a device in FOLDER, prints its process id, and never ends it. */
const [directory = ''] = process.argv.slice(2);
const { pid } = await startDaemon(await createDevice({ directory }));
process.stdout.write(`daemon ${pid}\n`);
