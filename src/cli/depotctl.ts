import { clientEnvironment, VERSION } from '../config/environment.ts';
import { DepotError, reasonOf } from '../errors.ts';
import { createClient } from './client.ts';
import { parseCommandLine, type Invocation } from './command-line.ts';
import { helpText, type CommandName } from './commands.ts';
import { showLog, stopTask, submitJobs } from './job-commands.ts';
import { howToLogIn, logIn, logOut, setPassword, type LoginContext } from './login-commands.ts';
import { createOutput, type Output } from './output.ts';
import {
  listApps,
  listDisks,
  listJobs,
  listUploads,
  showStatus,
  showToken,
} from './read-commands.ts';
import { createSavedLogins } from './saved-logins.ts';
import { upgradeSelf } from './self-upgrade.ts';

/** The exit code is the contract of scripts. */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_UNREACHABLE = 3;

const RUN: Record<CommandName, (context: LoginContext) => Promise<number>> = {
  install: submitJobs,
  remove: submitJobs,
  upgrade: submitJobs,
  autoconf: submitJobs,
  update: submitJobs,
  upload: submitJobs,
  uploads: listUploads,
  undo: submitJobs,
  migrate: submitJobs,
  list: listApps,
  status: showStatus,
  disks: listDisks,
  jobs: listJobs,
  log: showLog,
  stop: stopTask,
  'self-upgrade': upgradeSelf,
  login: logIn,
  logout: logOut,
  passwd: setPassword,
  token: showToken,
};

process.exitCode = await main(process.argv.slice(2), createOutput());

async function main(words: string[], output: Output): Promise<number> {
  const { session, runtimeDir } = clientEnvironment();
  const line = parseCommandLine(words, session);
  if ('problem' in line) {
    output.say(`${line.problem}\ndepotctl: see depotctl --help`);
    return EXIT_USAGE;
  }
  if ('invocation' in line) return run(line.invocation, output, runtimeDir);
  await output.print(line.print === 'help' ? helpText() : `depotctl ${VERSION}\n`);
  return 0;
}

async function run(
  invocation: Invocation,
  output: Output,
  runtimeDir: string | undefined,
): Promise<number> {
  const logins = createSavedLogins(runtimeDir);
  const { target, session } = invocation;
  const client = createClient(
    target,
    session === undefined ? await logins.load(target) : `sysauth=${session}`,
  );
  try {
    return await RUN[invocation.command]({ client, output, invocation, logins });
  } catch (error) {
    output.say(reasonOf(error));
    if (error instanceof DepotError && error.code === 'forbidden') {
      output.say(await howToLogIn({ client, invocation }));
    }
    return error instanceof DepotError && error.code === 'upstream_unreachable'
      ? EXIT_UNREACHABLE
      : EXIT_FAILED;
  }
}
