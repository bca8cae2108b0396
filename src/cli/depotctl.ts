import { clientEnvironment, VERSION } from '../config/environment.ts';
import { DepotError, reasonOf } from '../errors.ts';
import { languageOf } from '../languages/language.js';
import { LANGUAGES, voiceOf } from '../languages/languages.ts';
import { createClient } from './daemon-client.ts';
import { parseCommandLine, type Invocation } from './command-line.ts';
import { matchAdvisories, showBill, verifyDevice } from './commands/audit.ts';
import { backUp, listBackups, restore } from './commands/backup.ts';
import { showFleet } from './commands/fleet.ts';
import { confirmTask } from './commands/undo.ts';
import { feeds, showLog, stopTask, submitJobs } from './commands/jobs.ts';
import { importIstore } from './commands/import.ts';
import { howToLogIn, logIn, logOut, setPassword, type LoginContext } from './commands/login.ts';
import { planCommand } from './commands/plan.ts';
import { listApps, listJobs, listUploads, showStatus, showToken } from './commands/reads.ts';
import { createSavedLogins } from './saved-logins.ts';
import { upgradeSelf } from './commands/self-upgrade.ts';
import { holdOrRelease } from './commands/hold.ts';
import { search, showDetails } from './commands/search.ts';
import { diagnose, listDisks, showDevice, showVersions } from './commands/system.ts';
import { createOutput, type Output } from './terminal/output.ts';
import type { CommandName } from './usage/commands.ts';

/** The exit code is the contract of scripts. */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_UNREACHABLE = 3;

const RUN: Record<CommandName, (context: LoginContext) => Promise<number>> = {
  search,
  info: showDetails,
  plan: planCommand,
  feeds,
  fleet: showFleet,
  doctor: diagnose,
  verify: verifyDevice,
  sbom: showBill,
  advisories: matchAdvisories,
  device: showDevice,
  version: showVersions,
  completion: showCompletion,
  help: ({ output }) => showHelp(output),
  install: submitJobs,
  remove: submitJobs,
  upgrade: submitJobs,
  hold: holdOrRelease,
  release: holdOrRelease,
  autoconf: submitJobs,
  update: submitJobs,
  import: importIstore,
  upload: submitJobs,
  uploads: listUploads,
  undo: submitJobs,
  migrate: submitJobs,
  list: listApps,
  backup: backUp,
  backups: listBackups,
  restore,
  status: showStatus,
  disks: listDisks,
  jobs: listJobs,
  log: showLog,
  stop: stopTask,
  confirm: confirmTask,
  'self-upgrade': upgradeSelf,
  login: logIn,
  logout: logOut,
  passwd: setPassword,
  token: showToken,
};

process.exitCode = await main(process.argv.slice(2));

async function main(words: string[]): Promise<number> {
  const { session, runtimeDir, isColoured, locale } = clientEnvironment();
  const output = createOutput(isColoured, voiceOf(languageOf([locale], LANGUAGES)));
  const line = parseCommandLine(words, session);
  if ('problem' in line) {
    output.say(line.problem);
    output.say('see depotctl --help');
    return EXIT_USAGE;
  }
  if ('invocation' in line) return run(line.invocation, output, runtimeDir);
  if (line.print === 'help') return showHelp(output, line.about);
  await output.print(`depotctl ${VERSION}\n`);
  return 0;
}

async function showHelp(output: Output, command?: CommandName): Promise<number> {
  const { commandHelp, helpText } = await import('./usage/help.ts');
  const { look } = output;
  await output.print(command === undefined ? helpText(look) : commandHelp(command, look));
  return 0;
}

async function showCompletion({ output, invocation }: LoginContext): Promise<number> {
  const { completionScript, SHELLS } = await import('./usage/completion.ts');
  const shell = SHELLS.find((name) => name === invocation.names[0]);
  if (shell === undefined) return EXIT_USAGE;
  await output.print(completionScript(shell));
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
    session === undefined ? await logins.load(target) : { cookie: `sysauth=${session}` },
  );
  try {
    return await RUN[invocation.command]({ client, output, invocation, logins });
  } catch (error) {
    output.say(reasonOf(error));
    const code = error instanceof DepotError ? error.code : undefined;
    if (code === 'forbidden') output.say(howToLogIn(invocation));
    return code === 'upstream_unreachable' ? EXIT_UNREACHABLE : EXIT_FAILED;
  }
}
