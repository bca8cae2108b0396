import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import * as v from 'valibot';
import { expect, test } from 'vitest';

import { describeRoutes } from '../../../src/features/forge/documentation/described-routes.ts';
import { OPERATIONS } from '../../../src/features/forge/documentation/operations.ts';
import { createRouteMatcher, ROUTES } from '../../../src/features/forge/routes.ts';
import type { Recorded } from './replay.ts';

const nameOf = ({ method, pattern }: { method: string; pattern: string }): string =>
  `${method} ${pattern}`;

test('every operation of the forge is described, and no other', () => {
  expect(Object.keys(OPERATIONS).sort()).toEqual(ROUTES.map(nameOf).sort());
  expect(ROUTES).toHaveLength(44);
});

test('every operation says what a good answer is, and what it wants in its body', () => {
  for (const { method, path, answers, body, summary } of describeRoutes('/api/v1')) {
    expect([path, Object.keys(answers).every((status) => /^20\d$/.test(status))]).toEqual([
      path,
      true,
    ]);
    expect([path, Object.keys(answers).length > 0, summary.length > 3]).toEqual([path, true, true]);
    const hasNone = /\/(?:merge|update|undismissals)$/.test(path);
    if (['PUT', 'PATCH'].includes(method) || (method === 'POST' && !hasNone)) {
      expect([path, body !== undefined]).toEqual([path, true]);
    }
  }
});

test('what a real forge answered is as described, status and body', async () => {
  const recorded = await readRecorded();
  const match = createRouteMatcher('documented');
  const seen = new Set<string>();

  for (const { method, target, head, body } of recorded) {
    const status = Number(head[0]?.split(' ')[1]);
    const path = new URL(target, 'http://forge').pathname.replace(/^\/api\/v1/, '');
    const route = match(method, target.replace(/^\/api\/v1/, '').replace(/\?.*$/, ''));
    if (status >= 300 || status === 206 || route === undefined || method === 'HEAD') continue;
    const name = nameOf(route);
    seen.add(name);
    const answer = OPERATIONS[name]?.answers[status];
    expect([name, path, status, answer !== undefined]).toEqual([name, path, status, true]);
    if (answer?.schema === undefined) continue;
    const parsed = v.safeParse(answer.schema, JSON.parse(Buffer.from(body, 'base64').toString()));
    expect([name, path, parsed.issues?.map((issue) => v.getDotPath(issue))]).toEqual([
      name,
      path,
      undefined,
    ]);
  }

  // Two operations were never recorded with a good answer.
  expect(ROUTES.length - seen.size).toBeLessThanOrEqual(2);
});

async function readRecorded(): Promise<Recorded[]> {
  const file = join(import.meta.dirname, 'recorded/gitea-1.25.4.json');
  return JSON.parse(await readFile(file, 'utf8')) as Recorded[];
}
