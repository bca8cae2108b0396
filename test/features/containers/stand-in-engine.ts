import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface EngineContainer {
  name: string;
  image?: string;
  state?: string;
  labels?: Readonly<Record<string, string>>;
  /** Of a bind its source; of a volume its name. */
  binds?: readonly string[];
  volumes?: readonly string[];
  ports?: readonly object[];
  restarts?: number;
  /** Is removed with its end (`--rm`), which so many questions find still under way. */
  goesFor?: number;
  /** Refuses to be removed, with this. */
  refusal?: string;
}

/** A container engine on a socket, with what a test puts into it. It knows no other questions. */
export interface StandInEngine {
  readonly socket: string;
  readonly containers: EngineContainer[];
  readonly volumes: string[];
  readonly images: string[];
  /** Whether it takes connections and says nothing. */
  isSilent: boolean;
  /** Answers everything with this text instead. */
  text?: string | undefined;
  /** What it did: `stop NAME`, `remove NAME`, `remove volume NAME`, `remove image NAME`. */
  readonly deeds: string[];
  readonly close: () => Promise<void>;
}

type Answer = [status: number, body?: unknown];

export async function startEngine(socket: string): Promise<StandInEngine> {
  const engine = {
    ...{ socket, isSilent: false, text: undefined as string | undefined },
    containers: [] as EngineContainer[],
    volumes: [] as string[],
    images: [] as string[],
    deeds: [] as string[],
  };
  const server = createServer((request, response) => {
    if (engine.text !== undefined) response.end(engine.text);
    else if (!engine.isSilent) send(response, answerOf(engine, request));
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  return Object.assign(engine, {
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

function send(response: ServerResponse, [status, body]: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

type State = Omit<StandInEngine, 'close'>;

function answerOf(engine: State, { method, url = '' }: IncomingMessage): Answer {
  const [path = ''] = url.split('?');
  const [, kind = '', id = '', verb = ''] = path.split('/').map(decodeURIComponent);
  const key = `${method} ${[kind, ...(id === '' || id === 'json' ? [id] : ['ID', verb])].join('/')}`;
  return ANSWERS[key]?.({ engine, id, url }) ?? [404, { message: `page not found: ${key}` }];
}

interface Question {
  engine: State;
  id: string;
  url: string;
}

const ANSWERS: Readonly<Record<string, (question: Question) => Answer>> = {
  'GET containers/json': ({ engine, url }) =>
    url.includes('all=1') ? [200, engine.containers.map(listed)] : [400],
  'GET images/json': ({ engine }) => [
    200,
    engine.images.map((image) => ({ Id: imageId(image), Size: 7_000_000 })),
  ],
  'GET info/': () => [200, { DockerRootDir: '/var/lib/docker' }],
  'GET containers/ID/json': ({ engine, id }) =>
    withContainer(engine, id, ({ restarts = 0 }) => [
      200,
      { RestartCount: restarts, State: { StartedAt: new Date().toISOString() } },
    ]),
  'POST containers/ID/stop': ({ engine, id }) =>
    withContainer(engine, id, ({ name }) => {
      engine.deeds.push(`stop ${name}`);
      return [204];
    }),
  'DELETE containers/ID/': ({ engine, id }) =>
    withContainer(engine, id, (container) => {
      const { goesFor = 0 } = container;
      if (goesFor > 0) {
        container.goesFor = goesFor - 1;
        if (goesFor === 1) engine.containers.splice(engine.containers.indexOf(container), 1);
        return [409, { message: `removal of container ${id} is already in progress` }];
      }
      if (container.refusal !== undefined) return [500, { message: container.refusal }];
      engine.deeds.push(`remove ${container.name}`);
      engine.containers.splice(engine.containers.indexOf(container), 1);
      return [204];
    }),
  'DELETE volumes/ID/': ({ engine, id }) =>
    gone(engine, { kind: 'volume', name: id, list: engine.volumes }),
  'DELETE images/ID/': ({ engine, id }) =>
    gone(engine, {
      ...{ kind: 'image', list: engine.images },
      name: engine.images.find((image) => imageId(image) === id) ?? '',
    }),
};

function gone(
  { deeds }: State,
  { kind, name, list }: { kind: string; name: string; list: string[] },
): Answer {
  const index = list.indexOf(name);
  if (index === -1) return [404, { message: `no such ${kind}` }];
  list.splice(index, 1);
  deeds.push(`remove ${kind} ${name}`);
  return [200, []];
}

function withContainer(
  { containers }: State,
  id: string,
  use: (container: EngineContainer) => Answer,
): Answer {
  const found = containers.find(({ name }) => containerId(name) === id);
  return found === undefined ? [404, { message: `No such container: ${id}` }] : use(found);
}

function listed({
  name,
  image = name,
  state = 'running',
  labels = {},
  binds = [],
  volumes = [],
  ports = [],
}: EngineContainer): object {
  return {
    ...{ Id: containerId(name), Names: [`/${name}`], Image: image, ImageID: imageId(image) },
    ...{ Created: 1_790_000_000, State: state, Labels: labels, Ports: ports },
    Mounts: [
      ...binds.map((source) => ({ Type: 'bind', Source: source, Destination: '/x', RW: true })),
      ...volumes.map((volume) => ({
        ...{ Type: 'volume', Name: volume, RW: true },
        Source: `/var/lib/docker/volumes/${volume}/_data`,
      })),
    ],
  };
}

export function containerId(name: string): string {
  return Buffer.from(name).toString('hex').padEnd(64, '0').slice(0, 64);
}

function imageId(image: string): string {
  return `sha256:${Buffer.from(image).toString('hex').padEnd(64, '0').slice(0, 64)}`;
}
