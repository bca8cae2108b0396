import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ROUTES, createRouteMatcher, type Route } from '../../../src/features/forge/routes.ts';
import { ask, startDevice, type Answer, type Device } from './device.ts';
import { PASSWORD, walkOperations } from './operations.ts';
import type { Outcome, Step } from './walk-files.ts';
import { startReplay, type Recorded } from './replay.ts';
import { parseMessage, startTap, type Tap } from './tap.ts';

/**
 * All 44 operations through the device, compared with the bytes on the wire in front of the forge.
 * By default the forge is a replay of what Gitea 1.25.4 answered to the same walk; with FORGE_URL
 * and FORGE_TOKEN (of the administrator `root`, password adminadmin1) it is that forge, and
 * FORGE_RECORD names a file to keep its answers in.
 */
const { FORGE_URL, FORGE_TOKEN = 'recorded', FORGE_RECORD } = process.env;
const RECORDING = new URL('recorded/gitea-1.25.4.json', import.meta.url);
const repo =
  FORGE_URL === undefined || FORGE_RECORD !== undefined ? 'recorded' : `walk-${Date.now()}`;

let tap: Tap;
let device: Device;
let replay: Awaited<ReturnType<typeof startReplay>> | undefined;

beforeAll(async () => {
  if (FORGE_URL === undefined) {
    replay = await startReplay(JSON.parse(await readFile(RECORDING, 'utf8')) as Recorded[]);
  } else await prepare(FORGE_URL);
  tap = await startTap(FORGE_URL ?? replay?.url ?? '');
  device = await startDevice({ upstream: tap.url, first_byte_timeout_s: 60 });
});

afterAll(async () => {
  await device.close();
  await tap.close();
  await replay?.close();
});

test('every operation, good and bad, passes byte for byte both ways, and every documented one was taken', async () => {
  const performed = new Set<Route>();
  const record: Recorded[] = [];
  const matchRoute = createRouteMatcher('documented');
  const perform = async (step: Step): Promise<Outcome> => {
    const route = matchRoute(step.method, step.path.split('?', 1)[0] ?? '');
    if (route !== undefined) performed.add(route);
    const { answer, recorded } = await compare(step);
    record.push(recorded);
    return { status: answer.status, json: jsonOf(answer) };
  };

  await walkOperations(perform, repo);

  expect(ROUTES.filter((route) => !performed.has(route))).toEqual([]);
  expect(replay?.left() ?? 0).toBe(0);
  if (FORGE_RECORD !== undefined) {
    await writeFile(FORGE_RECORD, JSON.stringify(record, undefined, 1));
  }
});

test('the walk published what the forge confirmed', () => {
  const events = device.events.map(({ event }) => event);
  expect(events.filter((event) => event === 'wiki.page.created')).toHaveLength(2);
  expect(events.filter((event) => event === 'wiki.page.edited')).toHaveLength(1);
  expect(events.filter((event) => event === 'wiki.page.deleted')).toHaveLength(1);
  expect(
    device.events.filter(({ event }) => event === 'pull_request.target_branch.changed'),
  ).toMatchObject([
    { from: 'main', to: 'target' },
    { from: 'target', to: 'main' },
  ]);
});

async function compare(step: Step): Promise<{ answer: Answer; recorded: Recorded }> {
  const body = step.body === undefined ? undefined : JSON.stringify(step.body);
  const headers = {
    ...step.headers,
    ...authorization(step),
    ...(body === undefined
      ? {}
      : { 'Content-Type': 'application/json', 'Content-Length': `${Buffer.byteLength(body)}` }),
  };
  tap.drain();
  const answer = await ask(device.port, `/api/v1${step.path}`, {
    method: step.method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const wire = tap.drain();
  const response = lastMessage(wire.response);
  const request = lastMessage(wire.request);
  const name = `${step.method} ${step.path}`;
  expect(request.firstLine, name).toBe(`${step.method} /api/v1${step.path} HTTP/1.1`);
  expect(request.body.toString(), name).toBe(body ?? '');
  expect(`HTTP/1.1 ${answer.status} ${answer.reason}`, name).toBe(response.firstLine);
  expect(answer.isBroken, name).toBe(false);
  expect(answer.body.equals(response.body), name).toBe(true);
  expect(endToEnd(answer.lines, `http://127.0.0.1:${device.port}`), name).toEqual(
    endToEnd(response.lines, origins(response.lines)),
  );
  const recorded = {
    method: step.method,
    target: `/api/v1${step.path}`,
    head: [response.firstLine, ...response.lines],
    body: response.body.toString('base64'),
  };
  return { answer, recorded };
}

/**
 * A pull request's edit that names a branch asks for the pull request first: the message of the
 * step itself is the last.
 */
function lastMessage(bytes: Buffer): ReturnType<typeof parseMessage> {
  const marks = [
    ...bytes
      .toString('latin1')
      .matchAll(/(?:^|[^\n]|\n)(?=HTTP\/1\.1 [2-5]|(?:GET|PATCH) \/api\/v1\S* HTTP\/1\.1\r\n)/g),
  ];
  const last = marks.at(-1);
  return parseMessage(last === undefined ? bytes : bytes.subarray(last.index + last[0].length));
}

/**
 * What is contracted to differ: hop-by-hop fields, a date that the forge did not send, and where
 * paging links point.
 */
function endToEnd(lines: string[], origin: string): string[] {
  const kept = lines.flatMap((value, index) =>
    index % 2 === 1 ? [`${lines[index - 1] ?? ''}: ${value}`] : [],
  );
  return kept
    .filter(
      (line) =>
        !/^(?:connection|keep-alive|transfer-encoding):|^content-security-policy: sandbox$/i.test(
          line,
        ),
    )
    .map((line) =>
      /^link:.*rel="(?:next|prev|last|first)"/i.test(line)
        ? line.replaceAll(`${origin}/api/v1`, 'ORIGIN/api/v1')
        : line,
    );
}

function origins(lines: string[]): string {
  const link = lines[lines.findIndex((line) => line.toLowerCase() === 'link') + 1] ?? '';
  return /<(https?:\/\/[^/]+)/.exec(link)?.[1] ?? 'http://none';
}

function authorization({ as = 'owner' }: Step): Record<string, string> {
  const basic = (user: string): string =>
    `Basic ${Buffer.from(`${user}:${PASSWORD}`).toString('base64')}`;
  if (as === 'nobody') return {};
  if (as === 'owner') return { Authorization: `token ${FORGE_TOKEN}` };
  return { Authorization: basic(as === 'password' ? 'root' : 'reviewer') };
}

function jsonOf({ body }: Answer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>;
  } catch {
    // Many answers are not JSON.
    return undefined;
  }
}

/** A repository, and a second user who may write to it. */
async function prepare(url: string): Promise<void> {
  const call = async (method: string, path: string, body: object): Promise<void> => {
    const headers = { Authorization: `token ${FORGE_TOKEN}`, 'Content-Type': 'application/json' };
    const answer = await fetch(new URL(`/api/v1${path}`, url), {
      method,
      headers,
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
  };
  await call('POST', '/admin/users', {
    username: 'reviewer',
    email: 'reviewer@example.invalid',
    password: PASSWORD,
    must_change_password: false,
  });
  await call('POST', '/user/repos', { name: repo, auto_init: true, default_branch: 'main' });
  await call('PUT', `/repos/root/${repo}/collaborators/reviewer`, { permission: 'write' });
}
