import { VERSION } from '../config/environment.ts';
import { DepotError, reasonOf } from '../errors.ts';
import { createClient } from './client.ts';
import { helpText, parseCommandLine, type CommandName, type Invocation } from './command-line.ts';
import { showLog, stopTask, submitJobs, type CommandContext } from './job-commands.ts';
import { createOutput, type Output } from './output.ts';
import { passwd } from './passwd.ts';
import { listApps, listJobs, showStatus, showToken } from './read-commands.ts';

/** The exit code is the contract of scripts. */
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const EXIT_UNREACHABLE = 3;

const RUN: Record<CommandName, (context: CommandContext) => Promise<number>> = {
  install: submitJobs,
  remove: submitJobs,
  upgrade: submitJobs,
  update: submitJobs,
  migrate: submitJobs,
  list: listApps,
  status: showStatus,
  jobs: listJobs,
  log: showLog,
  stop: stopTask,
  passwd: ({ client, output }) => passwd({ client, input: process.stdin, say: output.say }),
  token: showToken,
};

process.exitCode = await main(process.argv.slice(2), createOutput());

async function main(words: string[], output: Output): Promise<number> {
  const line = parseCommandLine(words);
  if ('problem' in line) {
    output.say(`${line.problem}\ndepotctl: see depotctl --help`);
    return EXIT_USAGE;
  }
  if ('invocation' in line) return run(line.invocation, output);
  await output.print(line.print === 'help' ? helpText() : `depotctl ${VERSION}\n`);
  return 0;
}

async function run(invocation: Invocation, output: Output): Promise<number> {
  try {
    return await RUN[invocation.command]({ client: createClient(invocation.target), output, invocation });
  } catch (error) {
    output.say(reasonOf(error));
    return error instanceof DepotError && error.code === 'upstream_unreachable' ? EXIT_UNREACHABLE : EXIT_FAILED;
  }
}
