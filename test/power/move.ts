import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { runCommand } from '../device/command.ts';
import { configOf, engineScript, isSame, writeData } from '../faults/container-data.ts';
import type { Kind } from './kinds.ts';
import { DISK, ROOT } from './locations.ts';

const { REPOSITORY = '' } = process.env;
const KEPT = join(DISK, 'kept');
const SOURCE = join(DISK, 'one');
/** In memory, as the engine's are on a device. */
const FOLDER = '/tmp/engine';
const SCRIPT = join(FOLDER, 'engine');
const CONFIG = configOf(ROOT);

const dataRoot = async (): Promise<string> => {
  const config = JSON.parse(await readFile(CONFIG, 'utf8')) as Record<string, string>;
  return config['data-root'] ?? '';
};

/** An engine's data goes to another folder; taken again, to a third one. */
export const MOVE: Kind = {
  feed: 1,
  expected: {},
  set: [
    'container.engine=command',
    `container.socket=${FOLDER}/engine.sock`,
    ...['start', 'stop'].flatMap((verb) =>
      ['sh', SCRIPT, verb].map((word) => `container.${verb}=${word}`),
    ),
  ],
  start: async (phase) => {
    await mkdir(FOLDER);
    const program = join(REPOSITORY, 'test/faults/engine.mjs');
    await writeFile(SCRIPT, engineScript({ folder: FOLDER, config: CONFIG, program }));
    if (phase === 'prepare') {
      await writeData(KEPT);
      await cp(KEPT, SOURCE, { recursive: true });
      await mkdir(dirname(CONFIG), { recursive: true });
      await writeFile(CONFIG, JSON.stringify({ 'data-root': SOURCE }));
    }
    await runCommand(['sh', SCRIPT, 'start']);
  },
  job: async (daemon) => {
    const path = join(DISK, (await dataRoot()) === SOURCE ? 'two' : 'three');
    return daemon.submit('docker_migrate', { path, overwrite: 'true' });
  },
  look: async (_, { state, isAgain }) => {
    const now = await dataRoot().catch((error: unknown) => String(error));
    const isWhole = await isSame(KEPT, now);
    return [
      ...(isWhole ? [] : [`the engine is sent to ${now}, where its data is not`]),
      ...(state === 'done' && !isAgain && now === SOURCE ? ['moved, and is not'] : []),
      ...((await isSame(KEPT, SOURCE)) || state === 'done' || isAgain
        ? []
        : ['the old data was changed']),
    ];
  },
};
