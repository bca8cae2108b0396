import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { runCommand } from '../device/command.ts';
import { canLoop } from '../support/loop-disks.ts';
import { createLoopDisks, type LoopDisks } from '../features/container-data/loop-disks.ts';

/** Two small disks with an engine's data on the first, and an engine that works there. */
export interface ContainerData {
  readonly target: string;
  /** Settings of the daemon. */
  readonly set: readonly string[];
  /** Puts the data, the configuration and the engine back to what they were. */
  readonly restore: (root: string) => Promise<void>;
  /** What does not hold after a move that ended so. */
  readonly judge: (root: string, isDone: boolean) => Promise<string[]>;
  readonly close: () => Promise<void>;
}

const ENGINE = join(import.meta.dirname, 'engine.mjs');
const FILES = 60;

/** @returns undefined if this machine lets nobody make loop disks */
export async function createContainerData(folder: string): Promise<ContainerData | undefined> {
  if (!(await canLoop(['mkfs.ext4', 'losetup', 'rsync']))) return undefined;
  const disks: LoopDisks = createLoopDisks(folder);
  for (const name of ['one', 'two']) await disks.make(name, { sizeMib: 24 });
  const [source, target] = [join(folder, 'mnt/one/docker'), join(folder, 'mnt/two/docker')];
  const kept = join(folder, 'kept-data');
  await writeData(kept);
  const script = join(folder, 'engine');
  const engine = (verb: string): Promise<unknown> => runCommand(['sh', script, verb]);
  const set = ['start', 'stop'].flatMap((verb) =>
    ['sh', script, verb].map((word) => `container.${verb}=${word}`),
  );
  return {
    target,
    set: ['container.engine=command', `container.socket=${folder}/engine.sock`, ...set],
    restore: async (root) => {
      await writeFile(script, engineScript({ folder, config: configOf(root), program: ENGINE }));
      await engine('stop');
      for (const path of [source, target]) await rm(path, { recursive: true, force: true });
      await cp(kept, source, { recursive: true });
      await mkdir(join(root, 'etc/docker'), { recursive: true });
      await writeFile(configOf(root), JSON.stringify({ 'data-root': source }));
      await engine('start');
    },
    judge: async (root, isDone) => {
      const { 'data-root': now } = JSON.parse(await readFile(configOf(root), 'utf8')) as Record<
        string,
        string
      >;
      const problems =
        now === (isDone ? target : source) ? [] : [`the engine is sent to ${now ?? ''}`];
      if (!(await isSame(kept, source))) problems.push('the old data was changed');
      if (isDone && !(await isSame(kept, target))) problems.push('the copy is not the data');
      return problems;
    },
    close: async () => {
      await engine('stop');
      await disks.close();
    },
  };
}

export function configOf(root: string): string {
  return join(root, 'etc/docker/daemon.json');
}

/** What an engine would have in its folder. */
export async function writeData(kept: string): Promise<void> {
  const folder = join(kept, 'overlay2/layer/diff');
  await mkdir(folder, { recursive: true });
  for (let index = 0; index < FILES; index += 1) {
    await writeFile(join(folder, `file-${index}`), `${index} `.repeat(index * 40));
  }
}

/** Whether both folders have the engine's data. */
export async function isSame(kept: string, other: string): Promise<boolean> {
  const names = await readdir(other).catch((): string[] => []);
  if (!names.includes('overlay2')) return false;
  return (
    (await runCommand(['diff', '-r', join(kept, 'overlay2'), join(other, 'overlay2')])).code === 0
  );
}

/** @param program `engine.mjs` */
export function engineScript({
  folder,
  config,
  program,
}: Readonly<Record<'folder' | 'config' | 'program', string>>): string {
  return `cd '${folder}' || exit 1
case $1 in
start)
	sh '${folder}/engine' stop
	rm -f engine.pid
	'${process.execPath}' '${program}' '${config}' '${folder}/engine.sock' '${folder}/engine.pid' </dev/null >/dev/null 2>&1 &
	while [ ! -s engine.pid ]; do sleep 0.02; done ;;
stop)
	pid=$(cat engine.pid 2>/dev/null) || exit 0
	kill "$pid" 2>/dev/null
	while [ -e "/proc/$pid/exe" ]; do sleep 0.02; done
	rm -f engine.sock engine.pid ;;
esac
`;
}
