import { loadConfig, withoutRestart, type Config } from './config/config.ts';
import { canBeWoken } from './config/options.ts';
import { DEFAULT_CONFIG_FILE, type ConfigSource } from './config/settings.ts';
import { setUciOption } from './config/uci-edit.ts';
import { createDaemonLog } from './daemon-log.ts';
import { createSequence } from './device/concurrency-limit.ts';
import { editOwnerFile } from './device/owner-file.ts';
import { DepotError, reasonOf } from './errors.ts';
import { createFeatures, SECTIONS } from './features.ts';
import type { Feature } from './features/feature.ts';
import { createFoundation } from './foundation.ts';
import { createListeners, type Answering } from './http/listeners.ts';
import { createIdleExit, fallAsleep, wakeUp } from './idle-exit.ts';
import type { Queue } from './jobs/queue.ts';
import { isEnded } from './jobs/job.ts';
import { createYoungCollector } from './runtime/young-collector.ts';
import { openOwnerSocket } from './owner-socket.ts';
import type { Log } from './log.ts';
import { createRequestHandler, refuse, rehearse, type RequestHandler } from './request-handler.ts';

export type Daemon = Awaited<ReturnType<typeof startDaemon>>;

/** How long answers under way may take when the daemon stops. */
const STOP_GRACE_MS = 5000;

/**
 * Composition root: configuration → foundation → features → what answers requests; then it
 * listens.
 * @throws DepotError with what keeps it from starting
 */
export async function startDaemon(source: ConfigSource) {
  let config = loadConfig(source, SECTIONS);
  const { log, configure } = createDaemonLog(config.main);
  const stopping = new AbortController();
  const { context, queue, kinds } = await createFoundation({
    config: () => config,
    log,
    stopping: stopping.signal,
    setOption: (option, value) => writeOption(source, option, value).then(() => inTurn(reload)),
  });
  const features = await createFeatures(context);
  for (const { jobs } of features) kinds.add(jobs ?? {});
  const handlerFor = (wanted: Config): Promise<RequestHandler> =>
    createRequestHandler({
      ...{ ...context, features, config: wanted },
      authInForce: () => config.main.auth,
      isForOwner: (socket) => listeners.isForOwner(socket),
    });
  let handler = await handlerFor(config);
  let answering: Answering = handler;
  const listeners = createListeners({
    answering: () => answering,
    log,
    collectYoung: createYoungCollector(),
    follow: (socket) => idleExit.follow(socket),
  });
  const idleExit = idleExitOf(() => config.main, { queue, features, log });
  const start = async ({ owner_socket: ownerSocket, listen }: Config['main']): Promise<void> => {
    await openOwnerSocket(ownerSocket, { listeners, log });
    await listeners.listen(listen);
    await wakeUp(ownerSocket);
    queue.resume();
    await Promise.all(features.map(async (feature) => feature.start?.()));
    idleExit.watch();
  };

  const changeTo = async (next: Config): Promise<void> => {
    const nextHandler = await handlerFor(next);
    // Addresses and log-in do not change in one moment, and neither set of addresses may be met
    // with the other's log-in.
    if (next.main.auth !== config.main.auth) answering = CLOSED;
    await listeners.listen(next.main.listen).catch((error: unknown) => {
      nextHandler.close();
      throw error;
    });
    const before = handler;
    config = next;
    handler = nextHandler;
    answering = handler;
    configure(config.main);
    before.close();
    await Promise.all(features.map(async (feature) => feature.reload?.()));
    idleExit.watch();
  };

  const reload = async (): Promise<void> => {
    if (stopping.signal.aborted) return;
    try {
      await changeTo(readAgain(source, config, log));
      log.info({}, 'configuration read again');
    } catch (error) {
      answering = handler;
      log.error({ reason: reasonOf(error) }, 'configuration not taken over');
    }
  };
  // Two reloads at once would open the same new address twice, and the second take that for a
  // fault. They wait for the start, in which requests are answered already that change options.
  const inTurn = createSequence();
  await inTurn(() => start(config.main));

  return {
    rehearse: () => rehearse(handler),
    /** Reads the configuration again; one that is wrong is logged and the running one stays. */
    reload: () => inTurn(reload),
    /** Takes no more requests, finishes those under way, leaves running jobs running. */
    stop: async (): Promise<void> => {
      stopping.abort();
      idleExit.close();
      queue.close();
      await listeners.close(STOP_GRACE_MS);
      handler.close();
      await Promise.all(features.map(async ({ close }) => close?.()));
      log.info({}, 'stopped');
    },
  };
}

/** What can be taken over of the configuration while the daemon runs; the rest is logged. */
function readAgain(source: ConfigSource, running: Config, log: Log): Config {
  const { config, waiting } = withoutRestart(running, loadConfig(source, SECTIONS), SECTIONS);
  if (waiting.length > 0) log.warn({ options: waiting }, 'options that apply after a restart only');
  return config;
}

function idleExitOf(
  settings: () => Config['main'],
  { queue, features, log }: { queue: Queue; features: readonly Feature[]; log: Log },
) {
  return createIdleExit({
    // The socket is that of the start, whatever was read since.
    minutes: () => (canBeWoken(settings().owner_socket) ? settings().idle_exit_min : 0),
    isNeeded: () =>
      queue.all().some(({ state }) => !isEnded(state)) ||
      features.some(({ keepsUp }) => keepsUp?.() === true),
    end: () => fallAsleep(settings().owner_socket, log),
  });
}

async function writeOption(
  { file = DEFAULT_CONFIG_FILE }: ConfigSource,
  { section, option }: { section: string; option: string },
  value: string,
): Promise<void> {
  const place = { type: 'depotd', section, option };
  await editOwnerFile(file, (text) => setUciOption(text, place, value));
}

const CLOSED: Answering = {
  handle: (_request, response) =>
    refuse(response, new DepotError('unavailable', 'cannot answer: the configuration is changing')),
  hook: undefined,
};
