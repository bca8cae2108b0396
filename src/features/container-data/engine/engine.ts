import { closeSync, openSync } from 'node:fs';
import * as v from 'valibot';
import { DepotError } from '../../../errors.ts';
import type { ContainerEngine, ContainerState, EngineState, Launch } from '../device.ts';
import { askEngine, type EngineAnswer, type EngineQuestion } from '../../../device/engine/api.ts';
import { findHolders } from './processes.ts';
import { findServiceManager, type ServiceManagerOptions } from './service-manager.ts';
import { startDetached } from '../../../device/exec.ts';

const ANSWER_MS = 5000;
/**
 * A container's own time-out to stop is at most so long by anybody's sense; the engine's answer
 * comes after it.
 */
const STOP_MS = 10 * 60_000;
const START_MS = 2 * 60_000;

/** The real engine, behind its socket. */
export function createContainerEngine(options: ServiceManagerOptions): ContainerEngine {
  const ask = (question: EngineQuestion): Promise<EngineAnswer> =>
    askEngine(options.settings().socket, question);
  const launchVerb = async (verb: 'start' | 'stop', outputFile: string): Promise<Launch> =>
    launch((await findServiceManager(options))[verb], options.environment, outputFile);
  return {
    state: async () => stateFrom(await ask({ method: 'GET', path: '/info', timeoutMs: ANSWER_MS })),
    serviceManager: async () => (await findServiceManager(options)).name,
    running: async () => {
      const answer = needAnswer(
        await ask({ method: 'GET', path: '/containers/json', timeoutMs: START_MS }),
        'list containers',
      );
      return v
        .parse(containerList, answer.body)
        .map(({ Id: id, Names: names }) => ({ id, name: (names?.[0] ?? id).replace(/^\//, '') }));
    },
    isSlowToStop: async () => (await findServiceManager(options)).kind !== 'procd',
    inspect: async (id) => {
      const answer = needAnswer(
        await ask({ method: 'GET', path: `/containers/${id}/json`, timeoutMs: START_MS }),
        `look at the container ${id}`,
      );
      return answer.status === 200
        ? containerState(v.parse(containerDetails, answer.body))
        : undefined;
    },
    stopContainer: async (id) => {
      await ask({ method: 'POST', path: `/containers/${id}/stop`, timeoutMs: STOP_MS });
    },
    startContainer: async (id) => {
      const { status, body } = needAnswer(
        await ask({ method: 'POST', path: `/containers/${id}/start`, timeoutMs: START_MS }),
        `start the container ${id}`,
      );
      // 304: it runs already.
      return status === 204 || status === 304 ? undefined : messageIn(body, status);
    },
    start: (outputFile) => launchVerb('start', outputFile),
    stop: (outputFile) => launchVerb('stop', outputFile),
    holders: findHolders,
  };
}

const info = v.object({
  DockerRootDir: v.string(),
  Driver: v.optional(v.string(), ''),
  LiveRestoreEnabled: v.optional(v.boolean(), false),
});
const containerList = v.array(v.object({ Id: v.string(), Names: v.nullish(v.array(v.string())) }));
const containerDetails = v.object({
  State: v.object({
    Running: v.boolean(),
    ExitCode: v.optional(v.number(), 0),
    StartedAt: v.optional(v.string(), ''),
  }),
  HostConfig: v.optional(v.object({ AutoRemove: v.optional(v.boolean(), false) }), {}),
});

function stateFrom(answer: EngineAnswer): EngineState {
  if (answer === 'absent') return { kind: 'absent' };
  if (answer === 'silent') return { kind: 'silent' };
  const parsed = v.safeParse(info, answer.body);
  return parsed.success
    ? {
        kind: 'answers',
        dataRoot: parsed.output.DockerRootDir,
        driver: parsed.output.Driver,
        leavesContainers: parsed.output.LiveRestoreEnabled,
      }
    : { kind: 'silent' };
}

function containerState({
  State,
  HostConfig,
}: v.InferOutput<typeof containerDetails>): ContainerState {
  const startedAt = Date.parse(State.StartedAt);
  return {
    isRunning: State.Running,
    isRemovedAtEnd: HostConfig.AutoRemove,
    exitCode: State.ExitCode,
    startedAt: startedAt > 0 ? startedAt : 0,
  };
}

function needAnswer(answer: EngineAnswer, purpose: string): { status: number; body: unknown } {
  if (typeof answer === 'object') return answer;
  throw new DepotError('unavailable', `cannot ${purpose}: the container engine does not answer`);
}

function messageIn(body: unknown, status: number): string {
  const parsed = v.safeParse(v.object({ message: v.string() }), body);
  return parsed.success ? parsed.output.message : `the engine answers ${status}`;
}

/**
 * What the command leaves behind may be the engine itself, with this output open for as long as it
 * lives: so somebody goes on reading it, and keeps only its beginning.
 */
const START_SCRIPT = `
{ "$@" </dev/null 2>&1 || echo "depotd: $1 ended with exit code $?"; } |
  { head -c 65536; exec cat >/dev/null; }
`;

/**
 * In a session of its own, without terminal and without the job's variable: no signal meant for the
 * job or the daemon reaches the engine.
 */
async function launch(
  argv: readonly string[],
  environment: Record<string, string>,
  outputFile: string,
): Promise<Launch> {
  const descriptor = openSync(outputFile, 'a', 0o600);
  try {
    const { ended, finishInput } = await startDetached(
      { argv: ['/bin/sh', '-c', START_SCRIPT, 'sh', ...argv], environment, cwd: '/' },
      descriptor,
    );
    finishInput('');
    return { ended };
  } finally {
    closeSync(descriptor);
  }
}
