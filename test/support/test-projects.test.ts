import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { importsOf, readSource, REPOSITORY } from '../source-tree.ts';
import { ALONE, testProjects } from './test-projects.ts';

const projects = testProjects();

/** What a file imports at run time, with all that its imports below test/ do. */
function reachedFrom(file: string, reached = new Set<string>()): Set<string> {
  for (const { to, isType } of importsOf(file)) {
    if (isType || reached.has(to)) continue;
    reached.add(to);
    if (/^test\/.*\.ts$/.test(to)) reachedFrom(to, reached);
  }
  return reached;
}

test('tests that share a process start no program, server or client, and build nothing', () => {
  const shared = [...projects].filter(([, project]) => project === 'unit');
  expect(shared.length).toBeGreaterThan(50);
  const starting = shared.filter(([file]) =>
    [...reachedFrom(file)].some((to) =>
      /^node:(?:child_process|cluster|dgram|http|https|http2|net|tls|worker_threads)$|^(?:esbuild|execa|chokidar)$|\/processes\.ts$|^test\/device\/(?:daemon|device)\.ts$/.test(
        to,
      ),
    ),
  );
  expect(starting.map(([file]) => file)).toEqual([]);
});

test('tests that share a process change nothing in it that the next one would find', () => {
  const changing = [...projects]
    .filter(([, project]) => project === 'unit' || project === 'device')
    .filter(([file]) =>
      /\bprocess\.(?:env\.\w+ = |chdir|on\()|\bglobalThis\.\w+ = |\bvi\.(?!(?:fn|waitFor|waitUntil)\b)/.test(
        readSource(file),
      ),
    );
  expect(changing.map(([file]) => file)).toEqual([]);
});

test('tests that run alone are there', () => {
  expect(ALONE.filter((file) => !existsSync(join(REPOSITORY, file)))).toEqual([]);
});
