import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readSmallFile } from '../../device/owner-file.ts';
import { isLoopback } from '../../config/ip-address.ts';
import type { Paths } from '../../device/paths.ts';
import { isPackageName } from '../../package-management/names.ts';
import type { Container, EngineView } from './engine-view.ts';

/**
 * What the container script of an app says of its containers. It is read and never run: its `rm`
 * removes what it likes, and of many an app not what the app has.
 */
export interface AppScript {
  app: string;
  /** Names of containers. */
  names: ReadonlySet<string>;
  /** Projects of compose. */
  projects: ReadonlySet<string>;
}

const MOST_BYTES = 256 * 1024;
const ENDING = '.sh';

/** The scripts of all apps; none if the device has no container apps. */
export async function readAppScripts({ containerScriptDir }: Paths): Promise<AppScript[]> {
  const files = await readdir(containerScriptDir).catch(() => []);
  const apps = files
    .filter((file) => file.endsWith(ENDING))
    .map((file) => file.slice(0, -ENDING.length))
    .filter(isPackageName)
    .sort();
  const scripts: AppScript[] = [];
  for (const app of apps) {
    const text = await readSmallFile(join(containerScriptDir, `${app}${ENDING}`), MOST_BYTES);
    if (text !== undefined) scripts.push(parseAppScript(app, text));
  }
  return scripts;
}

const NAME = String.raw`["'\\]*([A-Za-z0-9][A-Za-z0-9_.-]*)(?=["'\\$\s;|&)]|$)`;
const CONTAINER_NAMES = [
  String.raw`--name[= ]\s*${NAME}`,
  String.raw`name=\^?/?${NAME}`,
  String.raw`docker\s+(?:rm|stop|start|restart|kill)\s+(?:-\S+\s+)*${NAME}`,
];
const PROJECT_NAMES = [
  String.raw`COMPOSE_PROJECT_NAME=${NAME}`,
  String.raw`docker[- ]compose\s+(?:-p|--project-name)[= ]${NAME}`,
];

export function parseAppScript(app: string, text: string): AppScript {
  const stated = namesIn(text, PROJECT_NAMES);
  // Compose takes the name of the folder, which iStore's convention has as the app's.
  const isComposed = /docker[- ]compose/.test(text);
  const projects = stated.length === 0 && isComposed ? [app.toLowerCase()] : stated;
  return {
    app,
    names: new Set([app, ...namesIn(text, CONTAINER_NAMES)]),
    projects: new Set(projects),
  };
}

function namesIn(text: string, patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) =>
    [...text.matchAll(new RegExp(pattern, 'g'))].map(([, name = '']) => name),
  );
}

/**
 * The app that a container belongs to. One of a project that no script names is its owner's own,
 * whatever it is called; one that has an app's own name is that app's, whoever else names it.
 */
export function appOf(
  { name, project }: Pick<Container, 'name' | 'project'>,
  scripts: readonly AppScript[],
): string | undefined {
  if (project !== undefined) return scripts.find(({ projects }) => projects.has(project))?.app;
  const named = scripts.find(({ app }) => app === name);
  return (named ?? scripts.find(({ names }) => names.has(name)))?.app;
}

/** How a container app is, in the words of an entry script. */
export interface RunState {
  running: boolean;
  docker: true;
  /** Whether it has a container; left out while nobody knows. */
  deployed?: boolean;
  /** `:8096`, the first port that leads into it from elsewhere. */
  web?: string;
}

/** Single flight: the run state of each app that has a container script, as the engine has it. */
export function createRunStates(paths: Paths, engine: EngineView) {
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
  return () => (asked ??= read().finally(() => void (asked = undefined)));
}

function stateOf(containers: readonly Container[]): RunState {
  const running = containers.filter(({ state }) => state === 'running');
  const ports = running.flatMap(({ ports: all }) => all);
  const web = ports.find(
    ({ host, protocol, address }) =>
      host !== undefined && protocol === 'tcp' && !isLoopback(address),
  )?.host;
  return {
    running: running.length > 0,
    docker: true,
    deployed: containers.length > 0,
    ...(web !== undefined && { web: `:${web}` }),
  };
}
