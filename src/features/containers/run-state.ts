import type { Paths } from '../../device/paths.ts';
import { appOf, readAppScripts } from './app-scripts.ts';
import type { Container, EngineView } from './engine-view.ts';

/** How a container app is, in the words of an entry script. */
export interface RunState {
  running: boolean;
  docker: true;
  /** Whether it has a container; left out while nobody knows. */
  deployed?: boolean;
  /** `:8096`, the first port that leads into it. */
  web?: string;
}

/** Single flight: the run state of each app that has a container script, as the engine has it. */
export function createRunStates(
  paths: Pick<Paths, 'containerScriptDir'>,
  engine: EngineView,
): () => Promise<ReadonlyMap<string, RunState>> {
  const read = async (): Promise<Map<string, RunState>> => {
    const scripts = await readAppScripts(paths);
    if (scripts.length === 0) return new Map();
    const all = await engine.containers();
    const stateIn = (app: string): RunState =>
      typeof all === 'string'
        ? { running: false, docker: true }
        : stateOf(all.filter((container) => appOf(container, scripts) === app));
    return new Map(scripts.map(({ app }) => [app, stateIn(app)]));
  };
  let asked: ReturnType<typeof read> | undefined;
  return () =>
    (asked ??= read().finally(() => {
      asked = undefined;
    }));
}

function stateOf(containers: readonly Container[]): RunState {
  const running = containers.filter(({ state }) => state === 'running');
  const ports = running.flatMap(({ ports: all }) => all);
  const web = ports.find(({ host, protocol }) => host !== undefined && protocol === 'tcp')?.host;
  return {
    running: running.length > 0,
    docker: true,
    deployed: containers.length > 0,
    ...(web !== undefined && { web: `:${web}` }),
  };
}
