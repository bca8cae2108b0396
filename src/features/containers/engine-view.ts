import * as v from 'valibot';
import {
  askEngine,
  type EngineAnswer,
  type EngineQuestion,
} from '../../device/engine/engine-api.ts';

const ANSWER_MS = 3000;
/** Most containers that are looked at; no device runs so many. */
const MOST_CONTAINERS = 1000;

/** A container as the engine lists it. */
export type Container = ReturnType<typeof containerIn>;
export type EngineView = ReturnType<typeof createEngineView>;

/** The engine, asked through its socket; every question has a deadline. @param socket its path */
export function createEngineView(socket: () => string) {
  const ask = (question: EngineQuestion): Promise<EngineAnswer> => askEngine(socket(), question);
  const get = async <Schema extends v.GenericSchema>(
    path: string,
    schema: Schema,
  ): Promise<v.InferOutput<Schema> | 'absent' | 'silent'> => {
    const answer = await ask({ method: 'GET', path, timeoutMs: ANSWER_MS });
    if (typeof answer === 'string') return answer;
    const parsed = v.safeParse(schema, answer.status === 200 ? answer.body : undefined);
    return parsed.success ? parsed.output : 'silent';
  };
  return {
    ask,
    containers: async (): Promise<Container[] | 'absent' | 'silent'> => {
      const found = await get('/containers/json?all=1', containerList);
      return typeof found === 'string' ? found : found.slice(0, MOST_CONTAINERS).map(containerIn);
    },
    /** Bytes by the id of the image; empty if the engine does not say it. */
    imageSizes: async (): Promise<Map<string, number>> => {
      const found = await get('/images/json', images);
      return new Map(typeof found === 'string' ? [] : found.map(({ Id, Size }) => [Id, Size]));
    },
    /** How often it was started again, and when it was last started (Unix seconds). */
    restarts: async (container: string) => {
      const found = await get(`/containers/${container}/json`, inspected);
      if (typeof found === 'string') return undefined;
      const startedAt = Date.parse(found.State.StartedAt);
      return { count: found.RestartCount, startedAt: startedAt > 0 ? startedAt / 1000 : 0 };
    },
    dataRoot: async (): Promise<string | undefined> => {
      const found = await get('/info', v.object({ DockerRootDir: v.string() }));
      return typeof found === 'string' ? undefined : found.DockerRootDir;
    },
  };
}

const text = v.fallback(v.string(), '');
/** What becomes part of a path of a question. */
const id = v.pipe(v.string(), v.regex(/^[a-f0-9]{12,64}$/));
const listed = v.object({
  Id: id,
  Names: v.fallback(v.array(v.string()), []),
  Image: text,
  ImageID: text,
  Created: v.fallback(v.pipe(v.number(), v.integer()), 0),
  State: text,
  Labels: v.fallback(v.record(v.string(), v.string()), {}),
  Ports: v.fallback(
    v.array(
      v.object({
        IP: text,
        PrivatePort: v.number(),
        PublicPort: v.optional(v.number()),
        Type: text,
      }),
    ),
    [],
  ),
  Mounts: v.fallback(
    v.array(v.object({ Type: text, Name: text, Source: text, RW: v.fallback(v.boolean(), false) })),
    [],
  ),
});
const containerList = v.array(listed);
const images = v.array(v.object({ Id: v.string(), Size: v.number() }));
const inspected = v.object({
  RestartCount: v.fallback(v.number(), 0),
  State: v.object({ StartedAt: text }),
});

function containerIn(found: v.InferOutput<typeof listed>) {
  const project = found.Labels['com.docker.compose.project'];
  return {
    id: found.Id,
    name: (found.Names[0] ?? found.Id).replace(/^\//, ''),
    image: found.Image,
    imageId: found.ImageID,
    /** The engine's word: `running`, `exited`, `restarting` … */
    state: found.State,
    createdAt: found.Created,
    /** Project of compose that the container belongs to. */
    project: project === '' ? undefined : project,
    ports: portsIn(found),
    mounts: found.Mounts.map(({ Type, Name, Source, RW }) => ({
      kind: Type,
      /** Name of the volume. */
      name: Name,
      /** Where the mount's source lies on the device. */
      source: Source,
      isWritable: RW,
    })),
  };
}

interface Port {
  address: string;
  /** On the device; undefined if it is not to be reached from there. */
  host: number | undefined;
  container: number;
  protocol: string;
}

/** By the ports inside, published ones first: the engine gives them in any order. */
function portsIn({ Ports }: Pick<v.InferOutput<typeof listed>, 'Ports'>): Port[] {
  const ports = Ports.map(({ IP, PrivatePort, PublicPort, Type }) => ({
    address: IP,
    host: PublicPort,
    container: PrivatePort,
    protocol: Type,
  }));
  return ports.sort((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
}

function placeOf({ address, host, container, protocol }: Port): string {
  const [inner, outer] = [container, host ?? 0].map((port) => String(port).padStart(5, '0'));
  return `${host === undefined} ${inner} ${outer} ${address} ${protocol}`;
}
