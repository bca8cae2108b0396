import { request } from 'node:http';

export interface ContainerOptions {
  name: string;
  /** Text for the container's shell. */
  script: string;
  /** HOST:CONTAINER, or VOLUME:CONTAINER. */
  binds?: readonly string[];
  restart?: 'no' | 'always' | 'unless-stopped';
}

/** What the tests ask of a real engine, over its socket. */
export interface EngineApi {
  /** Where it works; undefined if it does not answer. */
  readonly dataRoot: () => Promise<string | undefined>;
  /** Whether it answers; costs it next to nothing. */
  readonly answers: () => Promise<boolean>;
  /** Names of the containers that run, sorted. */
  readonly running: () => Promise<string[]>;
  /** Makes an image of a tar archive. */
  readonly importImage: (tar: Buffer, name: string) => Promise<void>;
  readonly run: (image: string, options: ContainerOptions) => Promise<void>;
  /** Removes a container that runs. */
  readonly remove: (name: string) => Promise<void>;
}

export function createEngineApi(socketPath: string): EngineApi {
  const ask = (
    method: string,
    path: string,
    body?: Buffer,
  ): Promise<{ status: number; body: unknown }> => askSocket(socketPath, { method, path, body });
  const need = async (method: string, path: string, body?: Buffer): Promise<unknown> => {
    const answer = await ask(method, path, body);
    if (answer.status >= 300) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  };
  return {
    dataRoot: async () => {
      const answer = await ask('GET', '/info').catch(() => undefined);
      return (answer?.body as { DockerRootDir?: string } | undefined)?.DockerRootDir;
    },
    answers: () =>
      ask('GET', '/_ping').then(
        ({ status }) => status === 200,
        () => false,
      ),
    running: async () => {
      const answer = await ask('GET', '/containers/json').catch(() => ({ body: [] }));
      return (answer.body as { Names: string[] }[])
        .map(({ Names: [name = ''] }) => name.slice(1))
        .sort();
    },
    importImage: async (tar, name) => {
      await need('POST', `/images/create?fromSrc=-&repo=${name}`, tar);
    },
    run: async (image, { name, script, binds = [], restart = 'no' }) => {
      const settings = {
        Image: image,
        Cmd: ['/bin/sh', '-c', script],
        HostConfig: { Binds: binds, NetworkMode: 'none', RestartPolicy: { Name: restart } },
      };
      const { Id: id } = (await need(
        'POST',
        `/containers/create?name=${name}`,
        Buffer.from(JSON.stringify(settings)),
      )) as { Id: string };
      await need('POST', `/containers/${id}/start`);
    },
    remove: async (name) => {
      await need('DELETE', `/containers/${name}?force=1`);
    },
  };
}

function askSocket(
  socketPath: string,
  { method, path, body }: { method: string; path: string; body: Buffer | undefined },
): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': path.startsWith('/images') ? 'application/x-tar' : 'application/json',
      ...(body === undefined ? {} : { 'content-length': body.length }),
    };
    const asked = request(
      { socketPath, method, path, headers, agent: false, signal: AbortSignal.timeout(20_000) },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: read(Buffer.concat(pieces).toString('utf8')),
          }),
        );
        response.on('error', reject);
      },
    );
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Some answers are a line of JSON a step. */
function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
