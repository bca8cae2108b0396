import { access, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { startDaemon, type TaskStatus, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { createEngineApi, type EngineApi } from './engine-api.ts';
import { command } from '../../support/loop-disks.ts';
import { createLoopDisks, type LoopDisks } from './loop-disks.ts';

/**
 * A device with a real container engine that works in a folder on a loop disk `one`; there is
 * another disk `two`.
 */
export interface EngineDevice {
  readonly device: Device;
  readonly daemon: TestDaemon;
  readonly engine: EngineApi;
  readonly disks: LoopDisks;
  readonly folder: string;
  readonly at: (path: string) => string;
  /** What the engine's configuration says. */
  readonly configured: () => Promise<string>;
  readonly check: (path: string) => Promise<{ code: number; result: string; error?: string }>;
  readonly migrate: (
    path: string,
    overwrite?: string,
  ) => Promise<{ code: number; stderr: string; task_id?: string }>;
  /** Moves, and waits for the end. */
  readonly move: (path: string, overwrite?: string) => Promise<TaskStatus & { log: string }>;
  /**
   * Shell text that is run before the engine is started or stopped; empty: none. `$config` is the
   * file that it will be started with.
   */
  readonly hook: (verb: 'start' | 'stop', text: string) => Promise<void>;
  /** Makes the next start or stop wait; resolves when it is there. @returns what lets it go on */
  readonly hold: (
    verb: 'start' | 'stop',
  ) => Promise<{ reached: () => Promise<void>; release: () => Promise<void> }>;
  /** Has a program of the daemon's run a shell text first; undefined: no more. */
  readonly wrap: (program: string, text: string | undefined) => Promise<void>;
  readonly enginePid: () => Promise<number>;
  readonly close: () => Promise<void>;
}

const END_MS = 55_000;

/** @param sizeMib of each disk */
export async function createEngineDevice(sizeMib = 160): Promise<EngineDevice> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-engine-'));
  const at = (path: string): string => join(folder, path);
  const disks = createLoopDisks(folder);
  await disks.make('one', { sizeMib });
  await disks.make('two', { sizeMib });
  const device = await createDevice({ directory: at('device') });
  await writeEngine(folder, device.root);
  const engine = createEngineApi(at('engine.sock'));
  // Into nothing, or this would wait for as long as the engine has its output.
  await command('sh', ['-c', 'exec sh "$1" start >"$1.log" 2>&1', 'sh', at('engine')]);
  await until(async () => (await engine.dataRoot()) !== undefined, 'the engine answers');
  const set = [
    'container.engine=command',
    ...['start', 'stop'].flatMap((verb) =>
      ['sh', at('engine'), verb].map((word) => `container.${verb}=${word}`),
    ),
    `container.socket=${at('engine.sock')}`,
  ];
  await mkdir(at('programs'));
  const daemon = await startDaemon(device, {
    set,
    env: { PATH: `${at('programs')}:${device.path}` },
  });
  const migrate: EngineDevice['migrate'] = async (path, overwrite) =>
    (await (
      await daemon.post('admin/store/docker_migrate', {
        path,
        ...(overwrite === undefined ? {} : { overwrite }),
      })
    ).json()) as { code: number; stderr: string };
  return {
    device,
    daemon,
    engine,
    disks,
    folder,
    at,
    migrate,
    configured: async () =>
      (JSON.parse(await readFile(configOf(device.root), 'utf8')) as { 'data-root': string })[
        'data-root'
      ],
    check: async (path) =>
      (await (
        await daemon.get(`admin/store/docker_check_migrate?path=${encodeURIComponent(path)}`)
      ).json()) as { code: number; result: string },
    move: async (path, overwrite) => {
      const { task_id: id, stderr } = await migrate(path, overwrite);
      if (id === undefined) throw new Error(stderr);
      const status = await daemon.finished(id, END_MS);
      return { ...status, log: await daemon.logOf(id) };
    },
    ...disturbances(at),
    enginePid: async () => Number(await readFile(at('engine.pid'), 'utf8')),
    close: async () => {
      await daemon.close();
      await command('sh', [at('engine'), 'end']).catch(() => undefined);
      await disks.close();
      await device.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

/** What happens at a moment that the test chooses. */
function disturbances(at: (path: string) => string): Pick<EngineDevice, 'hook' | 'hold' | 'wrap'> {
  return {
    hook: (verb, text) => writeFile(at(`before-${verb}`), text),
    hold: async (verb) => {
      await writeFile(
        at(`before-${verb}`),
        `echo >'${at('held')}'; while [ -e '${at('held')}' ]; do sleep 0.05; done`,
      );
      return {
        reached: () =>
          until(
            () =>
              access(at('held')).then(
                () => true,
                () => false,
              ),
            `the engine is to ${verb}`,
          ),
        release: async () => {
          await writeFile(at(`before-${verb}`), '');
          await rm(at('held'));
        },
      };
    },
    wrap: async (program, text) => {
      const { stdout } = await command('sh', ['-c', 'command -v "$1"', 'sh', program]);
      const wrapper = at(`programs/${program}`);
      if (text === undefined) await rm(wrapper, { force: true });
      else {
        await writeFile(wrapper, `#!/bin/sh\n${text}\nexec ${stdout.trim()} "$@"\n`, {
          mode: 0o755,
        });
      }
    },
  };
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + END_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`it has not come to this: ${what}`);
    await delay(30);
  }
}

function configOf(root: string): string {
  return join(root, 'etc/docker/daemon.json');
}

/** The start script leaves the engine behind with its own output open, as many a script does. */
async function writeEngine(folder: string, root: string): Promise<void> {
  await mkdir(join(root, 'etc/docker'), { recursive: true });
  await mkdir(join(folder, 'mnt/one/docker'));
  await writeFile(
    configOf(root),
    `${JSON.stringify({ 'log-level': 'warn', 'data-root': join(folder, 'mnt/one/docker') }, null, 4)}\n`,
  );
  await writeFile(
    join(folder, 'engine'),
    `cd '${folder}'
config='${configOf(root)}'
[ ! -e before-$1 ] || . ./before-$1
case $1 in
start) dockerd --config-file "$config" --iptables=false --ip-masq=false --bridge=none --exec-root '${folder}/exec' --pidfile '${folder}/engine.pid' --host 'unix://${folder}/engine.sock' & ;;
stop | end) pid=$(cat engine.pid) && kill $pid; while [ -e "/proc/$pid/exe" ]; do sleep 0.1; done ;;
esac
`,
  );
}

/** A tar archive of a root with a shell in it, and with a folder `layer/folder`. */
export async function shellImage(folder: string): Promise<Buffer> {
  const root = join(folder, 'image');
  await mkdir(join(root, 'bin'), { recursive: true });
  const { stdout } = await command('sh', [
    '-c',
    'cp "$(command -v busybox)" "$1/bin/busybox" && mkdir -p "$1/layer/folder" && echo >"$1/layer/folder/file" && for name in sh sleep mv rm ln mkdir; do ln -s busybox "$1/bin/$name"; done && tar -C "$1" -c . >"$1.tar" && echo "$1.tar"',
    'sh',
    root,
  ]);
  return readFile(stdout.trim());
}
