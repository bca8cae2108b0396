import { join, relative, resolve } from 'node:path';

import { startDemo, type Demo } from './demo-parts.ts';

/**
 * `npm run demo [FOLDER]`: a feed, a device in a folder (./demo unless said otherwise) and the
 * daemon, until Ctrl-C. Nothing is written outside of the folder, and what is in it is found again
 * by the next start.
 */
const REPOSITORY = join(import.meta.dirname, '../..');
const CURL = 'curl --silent --show-error';

try {
  const demo = await startDemo(resolve(process.argv[2] ?? join(REPOSITORY, 'demo')));
  process.stdout.write(welcome(demo));
  endOnSignal(demo);
} catch (error) {
  process.stderr.write(
    `cannot start the demo: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exit(1);
}

function welcome({ api, folder }: Demo): string {
  const place = relative(process.cwd(), folder);
  return `
depotd runs on a device in the folder ${place.startsWith('..') ? folder : `./${place}`}. Its page:

  ${api}/

The same by hand, in another terminal: install the app "demo", follow the log, list what is installed.

  ${CURL} "${api}/admin/store/install" -d package=demo -d "token=$(${CURL} "${api}/admin/store/token" | cut -d '"' -f 4)"; echo
  ${CURL} --no-buffer "${api}/admin/system/tasks/events?task_id=latest"
  ${CURL} "${api}/admin/store/installed"; echo

More to install: adfilter, homehub, medialibrary, photobackup; slow (takes 20 s), chatty (prints 200000 lines), badpost (fails). Ctrl-C ends it all.
`;
}

function endOnSignal(demo: Demo): void {
  let isEnding = false;
  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    process.stdout.write('\nstopping …\n');
    void demo.close().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`cannot stop cleanly: ${String(error)}\n`);
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
  process.on('SIGHUP', end);
  void demo.daemonEnded.then((log) => {
    if (isEnding) return;
    process.stderr.write(`the daemon has ended by itself; it said last:\n${log}\n`);
    void demo.close().finally(() => process.exit(1));
  });
}
