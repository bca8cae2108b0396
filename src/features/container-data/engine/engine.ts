import { closeSync, openSync } from 'node:fs';
import * as v from 'valibot';
import { DepotError } from '../../../errors.ts';
import {
  askEngine,
  refusalIn,
  type EngineAnswer,
  type EngineQuestion,
} from '../../../device/engine/engine-api.ts';
import { findHolders } from './engine-processes.ts';
import { findServiceManager, type ServiceManagerOptions } from './service-manager.ts';
import { startDetached } from '../../../device/exec.ts';

const ANSWER_MS = 5000;
/** A container's own time-out to stop is at most so long; the engine's answer comes after it. */
const STOP_MS = 10 * 60_000;
const START_MS = 2 * 60_000;

/**
 * `leavesContainers`: they go on when it stops (live-restore); `silent`: somebody has its socket
 * and does not answer (yet), `absent`: nobody has it.
 */
export type EngineState =
  | { kind: 'answers'; dataRoot: string; driver: string; leavesContainers: boolean }
  | { kind: 'silent' | 'absent' };

export interface ContainerSummary {
  id: string;
  name: string;
}

export type ContainerEngine = ReturnType<typeof createContainerEngine>;

/** The real engine, behind its socket. */
export function createContainerEngine(options: ServiceManagerOptions) {
  const ask = (question: EngineQuestion): Promise<EngineAnswer> =>
    askEngine(options.settings().socket, question);
  /** @throws DepotError unavailable if the engine does not answer */
  const need = async (
    purpose: string,
    question: Pick<EngineQuestion, 'method' | 'path'>,
  ): Promise<{ status: number; body: unknown }> => {
    const answer = await ask({ ...question, timeoutMs: START_MS });
    if (typeof answer === 'object') return answer;
    throw new DepotError('unavailable', `cannot ${purpose}: the container engine does not answer`);
  };
  /** What it prints is added to the file, 64 KiB of it at most. */
  const launchVerb = async (verb: 'start' | 'stop', outputFile: string): Promise<Launch> =>
    launch((await findServiceManager(options))[verb], options.environment, outputFile);
  return {
    /** Never waits longer than some seconds. */
    state: async () => stateFrom(await ask({ method: 'GET', path: '/info', timeoutMs: ANSWER_MS })),
    /** What starts and stops it, for messages. @throws DepotError unavailable if nothing does */
    serviceManager: async () => (await findServiceManager(options)).name,
    running: async (): Promise<ContainerSummary[]> => {
      const { body } = await need('list containers', { method: 'GET', path: '/containers/json' });
      return v
        .parse(containerList, body)
        .map(({ Id: id, Names: names }) => ({ id, name: (names?.[0] ?? id).replace(/^\//, '') }));
    },
    /** Whether it has the time to end its containers: procd kills it after some seconds. */
    isSlowToStop: async () => (await findServiceManager(options)).kind !== 'procd',
    /** @returns undefined if the engine does not know it; a text if it says why it cannot tell */
    inspect: async (id: string) => {
      const path = `/containers/${id}/json`;
      const { status, body } = await need(`look at the container ${id}`, { method: 'GET', path });
      if (status === 404) return undefined;
      return status === 200
        ? containerState(v.parse(containerDetails, body))
        : refusalIn({ status, body });
    },
    /** Resolves when it has ended, by the time-out of its own. */
    stopContainer: async (id: string): Promise<void> => {
      await ask({ method: 'POST', path: `/containers/${id}/stop`, timeoutMs: STOP_MS });
    },
    /** Starts a container. @returns why it could not be started, if so */
    startContainer: async (id: string): Promise<string | undefined> => {
      const path = `/containers/${id}/start`;
      const { status, body } = await need(`start the container ${id}`, { method: 'POST', path });
      // 304: it runs already.
      return status === 204 || status === 304 ? undefined : refusalIn({ status, body });
    },
    start: (outputFile: string) => launchVerb('start', outputFile),
    stop: (outputFile: string) => launchVerb('stop', outputFile),
    /** Processes that work in the data root, whether or not the engine answers. */
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
  if (typeof answer === 'string') return { kind: answer };
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

/** One container as the engine has it. */
function containerState({ State, HostConfig }: v.InferOutput<typeof containerDetails>) {
  const startedAt = Date.parse(State.StartedAt);
  return {
    isRunning: State.Running,
    /** Removed by the engine as soon as it ends, and so with each stop of the engine. */
    isRemovedAtEnd: HostConfig.AutoRemove,
    exitCode: State.ExitCode,
    /** Milliseconds since 1970; 0 if it never ran. */
    startedAt: startedAt > 0 ? startedAt : 0,
  };
}

/** What is started may keep this output open for life: it is read on, and its beginning kept. */
const START_SCRIPT = `
{ "$@" </dev/null 2>&1 || echo "depotd: $1 ended with exit code $?"; } |
  { head -c 65536; exec cat >/dev/null; }
`;

/** A program outside of the job: it goes on whatever becomes of job or daemon. */
export interface Launch {
  /** Settles when the program, and what has its output open, has ended, if this daemon lives. */
  ended: Promise<unknown>;
}

/** In a session of its own, without the job's variable: no signal to job or daemon reaches it. */
async function launch(
  argv: readonly string[],
  environment: Record<string, string>,
  outputFile: string,
): Promise<Launch> {
  const descriptor = openSync(outputFile, 'a', 0o600);
  try {
    const { ended, finishInput } = await startDetached(
      { argv: ['/bin/sh', '-c', START_SCRIPT, 'sh', ...argv], environment },
      descriptor,
    );
    finishInput('');
    return { ended };
  } finally {
    closeSync(descriptor);
  }
}
