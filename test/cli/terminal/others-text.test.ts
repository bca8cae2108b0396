import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { inertJson } from '../../../src/cli/terminal/others-text.ts';
import { COMMAND_NAMES, namesOf } from '../../../src/cli/usage/commands.ts';
import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { DEPOTCTL, runEach } from '../start-depotctl.ts';

/** The clipboard, an empty screen, both by C1 characters, another direction, and a hidden line. */
const ACTIVE = '\x1b]52;c;ZXZpbA==\x07\x1b[2J\x9d0;t\x9c\x9b2J\u202eesrever\u2066\x1b[8m\x08\x7f';

const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

/** Which texts of an answer a hostile feed wrote; of `msg` every answer is a refusal. */
type Where = 'each' | 'sentences' | 'msg';

let examples: Map<string, unknown>;
let server: Server;
let url: string;
let where: Where = 'each';

beforeAll(async () => {
  const device = await createDevice();
  const daemon = await startDaemon(device);
  examples = examplesIn(await (await daemon.get('openapi.json')).json());
  await daemon.close();
  await device.close();
  server = createServer((request, response) => {
    const path = new URL(request.url ?? '', 'http://x').pathname.replace('/cgi-bin/panel/', '');
    const example = examples.get(path);
    const isRefused = where === 'msg' || example === undefined;
    response.writeHead(isRefused ? 409 : 200, { 'Content-Type': 'application/json' });
    if (path === 'admin/system/tasks/log') response.end(`${ACTIVE}\n`);
    else if (isRefused) response.end(JSON.stringify({ code: 409, msg: `no ${ACTIVE}` }));
    else response.end(JSON.stringify(hostile(example)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => new Promise((resolve) => server.close(resolve)));

/** What each path answers, as the interface describes it. */
function examplesIn(document: unknown): Map<string, unknown> {
  const { paths } = document as {
    paths: Record<string, Record<string, { responses?: Record<string, unknown> }>>;
  };
  const found = new Map<string, unknown>();
  for (const [path, operations] of Object.entries(paths)) {
    for (const { responses } of Object.values(operations)) {
      const ok = responses?.['200'] as
        | { content?: Record<string, { example?: unknown }> }
        | undefined;
      const example = ok?.content?.['application/json']?.example;
      if (example !== undefined) found.set(path.replace(/^\//, ''), example);
    }
  }
  return found;
}

function hostile(value: unknown): unknown {
  if (typeof value === 'string') {
    return where === 'each' || value.includes(' ') ? value + ACTIVE : value;
  }
  if (Array.isArray(value)) return value.map(hostile);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, hostile(entry)]));
}

const WORDS: Readonly<Record<string, readonly string[]>> = {
  plan: ['install', 'demo'],
  completion: ['bash'],
  upload: [DEPOTCTL],
  migrate: ['/mnt/sda1'],
};

const commands = COMMAND_NAMES.map((name) => [
  name,
  ...(WORDS[name] ?? Array.from({ length: namesOf(name)[0] }, () => 'demo')),
]);

test.each(['each', 'sentences', 'msg'] as const)(
  'no command lets through what a feed wrote to act on a terminal, nor in a pipe: %s',
  { timeout: 180_000 },
  async (texts) => {
    where = texts;
    let shown = 0;
    const lists = commands.flatMap((words) => [
      words,
      ...(texts === 'msg' ? [] : [[...words, '--json']]),
    ]);
    const env = { ...process.env, DEPOTCTL_SESSION: '', XDG_RUNTIME_DIR: '' };
    const outcomes = await runEach(
      lists.map((words) => ['--url', url, ...words]),
      { env },
    );
    expect(outcomes).toHaveLength(lists.length);
    for (const [index, { stdout, stderr }] of outcomes.entries()) {
      const words = lists[index]?.join(' ');
      expect(stdout, words).not.toMatch(CONTROL);
      expect(stderr, words).not.toMatch(CONTROL);
      if (`${stdout}${stderr}`.includes('esrever')) shown += 1;
    }
    expect(shown).toBeGreaterThan(15);
  },
);

test('JSON says the same as before', () => {
  expect(JSON.parse(inertJson({ text: ACTIVE }))).toEqual({ text: ACTIVE });
});
