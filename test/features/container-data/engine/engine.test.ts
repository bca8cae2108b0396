import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { loadConfig, valuesOf } from '../../../../src/config/config.ts';
import { createPaths } from '../../../../src/device/paths.ts';
import { stopEngine } from '../../../../src/features/container-data/engine-control.ts';
import {
  createContainerEngine,
  type ContainerEngine,
} from '../../../../src/features/container-data/engine/engine.ts';
import type { ContainerHost } from '../../../../src/features/container-data/host.ts';
import { CONTAINER_SECTION } from '../../../../src/features/container-data/options.ts';
import type { StepContext } from '../../../../src/jobs/plan.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let root: string;
const at = (path: string): string => join(root, path);

beforeEach(async () => (root = await temporaryFolder()));
function engineWith(...overrides: string[]): ContainerEngine {
  const source = {
    file: '/dev/null',
    overrides: [`main.root=${root}`, `container.socket=${at('socket')}`, ...overrides],
  };
  const config = loadConfig(source, [CONTAINER_SECTION]);
  return createContainerEngine({
    paths: createPaths(config),
    environment: { PATH: `${at('bin')}:/usr/bin:/bin` },
    settings: () => valuesOf(config, CONTAINER_SECTION),
  });
}

async function program(path: string, text: string): Promise<void> {
  await mkdir(join(at(path), '..'), { recursive: true });
  await writeFile(at(path), `#!/bin/sh\n${text}\n`);
  await chmod(at(path), 0o755);
}

const TELLING = { note: () => Promise.resolve() } as unknown as StepContext;

/** Runs the command to its end, and gives what it has printed. */
async function printed(engine: ContainerEngine, verb: 'start' | 'stop'): Promise<string> {
  await (
    await engine[verb](at('log'))
  ).ended;
  return readFile(at('log'), 'utf8');
}

describe('who starts and stops the engine', () => {
  test('the init script of OpenWrt, which is not given the time to end containers', async () => {
    await program('etc/init.d/dockerd', 'echo "$0" "$@"');
    const engine = engineWith();
    expect(await engine.serviceManager()).toBe(at('etc/init.d/dockerd'));
    expect(await engine.isSlowToStop()).toBe(false);
    expect(await printed(engine, 'start')).toBe(`${at('etc/init.d/dockerd')} start\n`);
  });

  test.each([
    ['active', 'stop docker.socket docker'],
    ['inactive', 'stop docker'],
  ])('systemd, where the unit docker.socket is %s', async (state, expected) => {
    await program(
      'bin/systemctl',
      `case "$*" in 'is-active docker.socket') echo ${state}; [ ${state} = active ] ;; 'start docker' | 'stop docker' | 'stop docker.socket docker') echo "$@" ;; *) exit 64 ;; esac`,
    );
    await mkdir(at('lib/systemd/system'), { recursive: true });
    await writeFile(at('lib/systemd/system/docker.service'), '');
    const engine = engineWith();
    expect(await engine.serviceManager()).toBe('systemd');
    expect(await printed(engine, 'stop')).toBe(`${expected}\n`);
    expect(await printed(engine, 'start')).toBe(`${expected}\nstart docker\n`);
  });

  test('the configured commands, argument by argument', async () => {
    const engine = engineWith(
      'container.engine=command',
      'container.start=printf',
      'container.start=<%s>',
      "container.start=it's $HOME",
      'container.start=',
      'container.stop=false',
    );
    expect(await printed(engine, 'start')).toBe("<it's $HOME><>");
    expect(await printed(engine, 'stop')).toContain('false ended with exit code 1');
  });

  test('nobody: it is said what would help', async () => {
    await expect(engineWith().serviceManager()).rejects.toThrow(
      'container.engine can name commands',
    );
  });
});

test('what is started stands on its own: no job, no terminal, no pipe that could break, and a log that does not grow for ever', async () => {
  await program(
    'engine',
    `tr '\\0' '\\n' </proc/$$/environ >'${at('environment')}'; cut -d' ' -f5-7 /proc/$$/stat >'${at('session')}'; head -c 1000000 /dev/zero | tr '\\0' x; echo >'${at('wrote')}'`,
  );
  const engine = engineWith(
    'container.engine=command',
    `container.start=${at('engine')}`,
    'container.stop=true',
  );

  await printed(engine, 'start');

  expect(await readFile(at('environment'), 'utf8')).not.toContain('DEPOTD');
  const [, session, terminal] = (await readFile(at('session'), 'utf8'))
    .trim()
    .split(' ')
    .map(Number);
  const own = (await readFile('/proc/self/stat', 'utf8')).split(' ')[5];
  expect(session).not.toBe(Number(own));
  expect(terminal).toBe(0);
  expect(await readFile(at('wrote'), 'utf8')).toBe('\n');
  expect((await readFile(at('log'))).length).toBe(65_536);
});

describe('the engine on its socket', () => {
  let server: Server | undefined;
  afterEach(async () => {
    server?.closeAllConnections();
    await new Promise((resolve) =>
      server === undefined ? resolve(undefined) : server.close(resolve),
    );
    server = undefined;
  });
  const listen = async (answer: RequestListener): Promise<void> => {
    const opened = createServer(answer);
    server = opened;
    await new Promise<void>((resolve) => opened.listen(at('socket'), resolve));
  };

  test('nobody there', async () => {
    expect(await engineWith().state()).toEqual({ kind: 'absent' });
    await writeFile(at('socket'), 'a file left by somebody');
    expect(await engineWith().state()).toEqual({ kind: 'absent' });
  });

  test('one that works', async () => {
    await listen((request, response) =>
      response.end(
        request.url === '/info'
          ? '{"DockerRootDir":"/d","Driver":"overlay2","LiveRestoreEnabled":true}'
          : '[{"Id":"1","Names":["/web"]},{"Id":"2","Names":null}]',
      ),
    );
    expect(await engineWith().state()).toEqual({
      kind: 'answers',
      dataRoot: '/d',
      driver: 'overlay2',
      leavesContainers: true,
    });
    expect(await engineWith().running()).toEqual([
      { id: '1', name: 'web' },
      { id: '2', name: '2' },
    ]);
  });

  test('it has stopped when the command is done, too, which tidies up behind it', async () => {
    await listen((_request, response) => response.end('{"DockerRootDir":"/d"}'));
    await program('stop', `rm '${at('socket')}'; sleep 0.3; echo >'${at('tidied')}'`);
    const engine = engineWith(
      'container.engine=command',
      'container.start=true',
      `container.stop=${at('stop')}`,
    );
    const telling = { ...TELLING, logFile: at('log') };

    await stopEngine({ engine } as ContainerHost, at('data'), telling);

    expect(await readFile(at('tidied'), 'utf8')).toBe('\n');
  });

  test('one that takes its time to stop is looked for less and less often', async () => {
    const since = performance.now();
    let looks = 0;
    const kind = (): string => (performance.now() - since < 2000 ? 'silent' : 'absent');
    const engine = {
      state: () => Promise.resolve({ kind: kind(), look: (looks += 1) }),
      holders: () => Promise.resolve([]),
    };

    await stopEngine({ engine } as unknown as ContainerHost, at('data'), TELLING);

    expect(looks).toBeLessThan(16);
  });

  test.each<[string, RequestListener]>([
    ['breaks off', (request) => void request.socket.destroy()],
    ['says something else', (_request, response) => void response.writeHead(500).end('<html>')],
  ])('one that %s is there and silent', async (_, answer) => {
    await listen(answer);
    expect(await engineWith().state()).toEqual({ kind: 'silent' });
  });

  test('a container that it does not know is gone, and one that it fails to look at is not', async () => {
    await listen(({ url }, response) =>
      url === '/containers/1/json'
        ? void response.writeHead(404).end('{"message":"No such container: 1"}')
        : void response.writeHead(500).end('{"message":"layer does not exist"}'),
    );
    expect(await engineWith().inspect('1')).toBeUndefined();
    expect(await engineWith().inspect('2')).toBe('layer does not exist');
  });

  test('what it says of a container that cannot be started is handed on', async () => {
    await listen(
      (_request, response) => void response.writeHead(500).end('{"message":"no such shim"}'),
    );
    expect(await engineWith().startContainer('1')).toBe('no such shim');
  });
});
