import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { parseArgs } from 'node:util';
import { DEFAULT_CONFIG_FILE, readConfig, type ConfigSource } from './config/config.ts';
import { VERSION } from './config/environment.ts';
import { startDaemon, type Daemon } from './daemon.ts';
import { DepotError, reasonOf } from './errors.ts';

const USAGE = `usage: depotd [--config FILE] [--set SECTION.OPTION=VALUE]… [--check] [--version]

  --config FILE  the configuration, in UCI syntax (default ${DEFAULT_CONFIG_FILE})
  --set …        overrides the file; for a list option, give it once for each value
  --check        say what is wrong with the configuration, and end: 0 nothing, 2 something
  --version      print the version, and end
`;

/** Exit code for a bad command line or configuration. */
const EXIT_USAGE = 2;

await main();

async function main(): Promise<void> {
  const source = readCommandLine();
  try {
    const starting = startDaemon(source);
    obeySignals(starting);
    await starting;
    giveBackMemory();
  } catch (error) {
    process.stderr.write(`depotd: ${reasonOf(error)}\n`);
    process.exit(error instanceof DepotError && error.code === 'bad_request' ? EXIT_USAGE : 1);
  }
}

/** Ends the process where the command line asks for no daemon. */
function readCommandLine(): ConfigSource {
  try {
    const { values } = parseArgs({
      options: { config: { type: 'string' }, set: { type: 'string', multiple: true }, check: { type: 'boolean' }, version: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
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
  const { problems } = readConfig(source);
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  process.exit(problems.length === 0 ? 0 : EXIT_USAGE);
}

/** From the first moment on: a daemon answers before it is all set up, and a signal that comes then must not kill it. */
function obeySignals(starting: Promise<Daemon>): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void starting.then((daemon) => daemon.stop()).then(() => process.exit(0));
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  process.on('SIGHUP', () => void starting.then((daemon) => daemon.reload()));
}

/** A collection once all is set up gives back several megabytes that a daemon at rest would otherwise hold. */
const SETTLED_MS = 1000;

function giveBackMemory(): void {
  setTimeout(() => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    collect();
  }, SETTLED_MS).unref();
}
