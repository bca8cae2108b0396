import type { Paths } from '../../device/paths.ts';
import { json } from '../../http/respond.ts';
import { get, type Route } from '../../http/route.ts';
import { appOf, readAppScripts } from './app-scripts.ts';
import type { Container, EngineView } from './engine-view.ts';

/** What runs in containers, to be looked at: there is no store of them. */
export function containersRoutes(paths: Paths, engine: EngineView): Route[] {
  return [
    get({
      path: 'admin/system/containers',
      summary: 'Containers on the device, with the apps and projects that they belong to',
      handle: async () => json(await listContainers(paths, engine)),
    }),
  ];
}

async function listContainers(paths: Paths, engine: EngineView): Promise<object> {
  const all = await engine.containers();
  if (typeof all === 'string') return { engine: false, containers: [] };
  const reading = [readAppScripts(paths), engine.imageSizes(), readRestarts(engine, all)] as const;
  const [scripts, sizes, restarts] = await Promise.all(reading);
  return {
    engine: true,
    containers: all.map((container, index) => {
      const { id, name, image, state, project, createdAt } = container;
      return {
        ...{ id, name, image, state, ports: container.ports.map(portText), project },
        app: appOf(container, scripts),
        restarts: restarts[index],
        created_at: createdAt,
        image_bytes: sizes.get(container.imageId),
      };
    }),
  };
}

function portText({ address, host, container, protocol }: Container['ports'][number]): string {
  const inner = `${container}/${protocol}`;
  if (host === undefined) return inner;
  return `${address.includes(':') ? `[${address}]` : address}:${host}->${inner}`;
}

const AT_ONCE = 8;
const LIMIT_MS = 5000;

/** How often each was started again; of the last ones unknown if that takes too long. */
async function readRestarts({ restarts }: EngineView, containers: readonly Container[]) {
  const until = performance.now() + LIMIT_MS;
  const counts: (number | undefined)[] = [];
  while (counts.length < containers.length && performance.now() < until) {
    const some = containers.slice(counts.length, counts.length + AT_ONCE);
    const found = await Promise.all(some.map(({ id }) => restarts(id)));
    counts.push(...found.map((one) => one?.count));
  }
  return counts;
}
