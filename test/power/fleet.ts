import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { moduleOf, planOf, type FleetStatus } from '../features/fleet/fleet-device.ts';
import { createStandIn, type StandIn } from '../features/fleet/stand-in.ts';
import { sentFile, type PowerDaemon } from './device.ts';
import type { Kind } from './kinds.ts';
import { ROOT } from './locations.ts';
import { SENT } from './packages.ts';

const ID = 'power-device';
const PORT = 7997;
const TOKEN_FILE = '/tmp/fleet-token';
const CONFIG = join(ROOT, 'etc/config/one');
const LIMIT_MS = 90_000;

const textWith = (value: string): string => `config app 'main'\n\toption url '${value}'\n`;
const PLAN = planOf({ version: 1, settings: { 'one.main.url': 'new' } });

let server: StandIn | undefined;
/** The server does not know that the first action was begun, in the look after it either. */
let first: string | undefined;

async function assign(): Promise<string> {
  if (server === undefined) throw new Error('no fleet server');
  const { name, bytes } = await sentFile();
  const module = moduleOf({ fileName: name, bytes } as Parameters<typeof moduleOf>[0]);
  return server.assign(await server.publish([module, PLAN]), ID);
}

async function poll(daemon: PowerDaemon): Promise<FleetStatus> {
  return (await (await daemon.post('admin/fleet/poll')).json()) as FleetStatus;
}

async function until<Found>(find: () => Promise<Found | undefined>, what: string): Promise<Found> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`it has not come to this: ${what}`);
    await delay(200);
  }
}

/** A package and a setting that an operator sends. */
export const FLEET: Kind = {
  feed: 1,
  expected: { [SENT]: 1 },
  set: [
    `fleet.server=http://127.0.0.1:${PORT}`,
    `fleet.controller_id=${ID}`,
    `fleet.token_file=${TOKEN_FILE}`,
    'fleet.allow=install',
    'fleet.allow=settings',
    'fleet.settings=one.main.url',
  ],
  start: async (phase) => {
    if (phase === 'prepare') await writeFile(CONFIG, textWith('old'));
    server = await createStandIn({ port: PORT });
    await writeFile(TOKEN_FILE, await server.addTarget(ID), { mode: 0o600 });
    if (phase === 'look') first = await assign();
  },
  job: async (daemon) => {
    const before = first;
    if (before !== undefined) {
      await until(async () => {
        await poll(daemon);
        return (await server?.action(ID, before))?.isActive === false ? true : undefined;
      }, 'the first action is over');
    }
    const action = await assign();
    return until(async () => {
      const status = await poll(daemon);
      return status.action?.id === action ? status.action.task_id : undefined;
    }, 'the action is begun');
  },
  look: async (_, { state }) => {
    const text = await readFile(CONFIG, 'utf8').catch(() => '');
    if (text === textWith('new')) return [];
    if (text === textWith('old')) return state === 'done' ? ['done, and the setting is old'] : [];
    return [`the setting is ${JSON.stringify(text)}`];
  },
};
