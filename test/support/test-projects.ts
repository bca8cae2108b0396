import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Which of vitest's projects (`vitest.config.ts`) runs a test file. */
export type TestProject = 'unit' | 'device' | 'apart' | 'alone';

const ROOT = join(import.meta.dirname, '../..');

/** What others at work at the same moment would spoil: they hold times. */
export const ALONE: readonly string[] = [
  'test/http/crowd/crowd.test.ts',
  'test/http/many-connections.test.ts',
];

/** Modules by which a test, or what it imports below test/, starts programs, servers or clients. */
const STARTERS =
  /^(?:node:(?:child_process|http2?|https|net|tls|dgram|worker_threads)|chokidar|vite|esbuild)$|src\/device\/(?:.*\/)?(?:exec|processes|sole-daemon)\.ts$|^src\/jobs\/queue\.ts$/;
/** What lasts longer than the file that does it. */
const LASTING =
  /\bvi\.(?!(?:fn|waitFor|waitUntil)\b)|\bprocess\.(?:chdir|umask|exitCode|memoryUsage|on)\b|\bprocess\.env(?:\.\w+|\[[^\]]+\]) = |\bglobalThis\.\w+ = /;

/** What undoes it by itself: it may be done in a process that others share. */
const HARMLESS: readonly string[] = [
  'test/device/daemon-process.ts',
  'test/support/check-answers.ts',
];

const IMPORT =
  /^(?:import|export)\s(?!type\s)[^'";]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

/** Every test file with its project. */
export function testProjects(): Map<string, TestProject> {
  const seen = new Map<string, boolean>();
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort();
  return new Map(files.map((file) => [file, projectOf(file, seen)]));
}

function projectOf(file: string, seen: Map<string, boolean>): TestProject {
  if (ALONE.includes(file)) return 'alone';
  if (hasOnlyOwnProcess(file, seen)) return 'unit';
  return changesItsProcess(file) ? 'apart' : 'device';
}

/** Whether it, or what it imports below test/, leaves its process other than it was. */
function changesItsProcess(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file) || HARMLESS.includes(file)) return false;
  seen.add(file);
  const text = readFileSync(join(ROOT, file), 'utf8');
  return (
    LASTING.test(text) ||
    [...text.matchAll(IMPORT)].some(([, from = '']) => {
      const path = from.startsWith('.') ? join(dirname(file), from) : '';
      return /^test\/.*\.ts$/.test(path) && changesItsProcess(path, seen);
    })
  );
}

/** Whether nothing is started and nothing outlasts the file, so that it may share a process. */
function hasOnlyOwnProcess(file: string, seen: Map<string, boolean>): boolean {
  const known = seen.get(file);
  if (known !== undefined) return known;
  seen.set(file, true);
  const text = readFileSync(join(ROOT, file), 'utf8');
  const isOwn =
    !LASTING.test(text) &&
    [...text.matchAll(IMPORT)].every(([, from, alone, later]) => {
      const name = from ?? alone ?? later ?? '';
      const path = name.startsWith('.') ? join(dirname(file), name) : name;
      if (STARTERS.test(path)) return false;
      return !/^test\/.*\.ts$/.test(path) || hasOnlyOwnProcess(path, seen);
    });
  seen.set(file, isOwn);
  return isOwn;
}
