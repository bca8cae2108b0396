import { parseArgs } from 'node:util';
import { readConfig } from './config/config.ts';
import { VERSION } from './config/environment.ts';
import { DEFAULT_CONFIG_FILE, type ConfigSource } from './config/settings.ts';
import { startDaemon, type Daemon } from './daemon.ts';
import { DepotError, reasonOf, succeeds } from './errors.ts';
import { SECTIONS } from './features.ts';
import { deferPerformance } from './runtime/light-clock.ts';
import { deferFetchClasses } from './runtime/light-fetch.ts';
import { releaseMemory } from './runtime/heap.ts';

const USAGE = `usage: depotd [--config FILE] [--set SECTION.OPTION=VALUE]… [--check] [--version]

  --config FILE  the configuration, in UCI syntax (default ${DEFAULT_CONFIG_FILE})
  --set …        overrides the file; for a list option, give it once for each value
  --check        say what is wrong with the configuration, and end: 0 nothing, 2 something
  --version      print the version, and end

Of --config, and of --set for the same option that is no list, the last one counts.
`;

/** Exit code for a bad command line or configuration. */
const EXIT_USAGE = 2;

export type Main = typeof main;

/**
 * @param keepCode keeps what V8 compiled: called after the start, before V8's flags change
 * @param isKept whether it was kept by an earlier start
 */
export async function main(keepCode: () => void, isKept = false): Promise<void> {
  deferFetchClasses();
  deferPerformance();
  // Whatever started it: what packages write is for all to read, and for root alone to write.
  process.umask(0o022);
  const source = readCommandLine();
  try {
    const starting = startDaemon(source);
    // Before the start is over: who reads `listening` in the log may send a signal at once.
    obeySignals(starting);
    const { rehearse } = await starting;
    if (!isKept) rehearse();
    releaseMemory(keepCode);
  } catch (error) {
    process.stderr.write(`depotd: ${reasonOf(error)}\n`);
    process.exit(error instanceof DepotError && error.code === 'bad_request' ? EXIT_USAGE : 1);
  }
}

/** Ends the process if the command line asks for no daemon. */
function readCommandLine(): ConfigSource {
  try {
    const { values } = parseArgs({
      options: {
        config: { type: 'string' },
        set: { type: 'string', multiple: true },
        check: { type: 'boolean' },
        version: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    if (values.help === true) end(USAGE);
    if (values.version === true) end(`depotd ${VERSION}\n`);
    const source = { file: values.config, overrides: values.set ?? [] };
    if (values.check === true) check(source);
    return source;
  } catch (error) {
    process.stderr.write(`depotd: ${reasonOf(error)}\n${USAGE}`);
    process.exit(EXIT_USAGE);
  }
}

function end(text: string): never {
  process.stdout.write(text);
  process.exit(0);
}

function check(source: ConfigSource): never {
  const { problems, warnings } = readConfig(source, SECTIONS);
  for (const warning of warnings) process.stderr.write(`warning: ${warning}\n`);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exit(problems.length === 0 ? 0 : EXIT_USAGE);
}

/**
 * From the start on: a signal that comes before the daemon is up waits for it. A start that fails
 * ends the process by itself.
 */
function obeySignals(starting: Promise<Daemon>): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    // Jobs go on whatever the end of the daemon.
    const endWith = async (daemon: Daemon): Promise<void> =>
      process.exit((await succeeds(daemon.stop())) ? 0 : 1);
    void starting.then(endWith, () => undefined);
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Node would open a debugger, on a port where every user of the device runs code as this one.
  process.on('SIGUSR1', () => undefined);
  process.on('SIGHUP', () => {
    void starting.then(
      ({ reload }) => reload(),
      () => undefined,
    );
  });
}
