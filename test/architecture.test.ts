import { readdirSync } from 'node:fs';
import { basename, dirname, extname } from 'node:path';

import ts from 'typescript';
import { describe, expect, test } from 'vitest';

import {
  filesBelow,
  functionsOf,
  importsOf,
  parseSource,
  readSource,
  visit,
  type Import,
} from './source-tree.ts';

/**
 * The dependency rule: whose values a room may import beside its own. A feature is a room of its
 * own, `features/NAME`.
 */
const SINGLE_FILES = ['errors', 'log', 'format-bytes', 'format-time', 'nearest'];
const FOUNDATION = [
  ...SINGLE_FILES,
  ...['config', 'device', 'jobs', 'http', 'runtime', 'languages', 'panel', 'features'],
  'package-management',
];
const MAY_IMPORT: Record<string, readonly string[]> = {
  errors: [],
  log: [],
  'format-bytes': [],
  'format-time': [],
  nearest: [],
  config: ['errors'],
  runtime: [],
  device: ['errors', 'log', 'config'],
  jobs: ['errors', 'log', 'device'],
  // The floor below the features: what packages are and how they change, whoever manages them.
  'package-management': [
    ...['errors', 'log', 'format-bytes', 'config', 'device', 'jobs'],
    ...['http/etag', 'http/health-report', 'http/parameter-schemas'],
  ],
  http: ['errors', 'log', 'config'],
  languages: [],
  panel: ['languages'],
  cli: ['errors', 'languages', 'nearest', 'config', 'device/private-folder'],
  // The seam, `features/feature.ts`: types.
  features: ['config', 'device', 'http', 'jobs', 'log'],
  // The list alone knows the features by name.
  list: ['features', 'features/*'],
  // Whoever puts the daemon together.
  root: ['errors', 'log', 'config', 'runtime', 'device', 'jobs', 'http', 'features', 'list'],
};
/** Which folders hold package managers: one line of package-management/select.ts names each. */
const MANAGERS = /^package-management\/(opkg|apk)$/;
/** What of the floor stands on the managers. */
const ABOVE_MANAGERS =
  /^src\/package-management\/(apps|transaction)\/|\/(select|package-tools|choice|change-preview)\.ts$/;
/** What one feature may take of another; the rest of it is its own affair. */
const OFFERED = ['src/features/icons/icon-names.ts'];
const FREE_TYPES = [
  'src/device/command.ts',
  'src/device/ports.ts',
  'src/jobs/job.ts',
  'src/config/config.ts',
];

/** What the rule still forgives; a line that goes does not come back. */
const FORGIVEN: readonly string[] = [];

/** Where each package may be imported: in files whose path begins so, or in a room. */
const PACKAGES: Record<string, readonly string[]> = {
  pino: ['src/log.ts'],
  execa: ['src/device/exec.ts'],
  busboy: ['src/http/multipart.ts'],
  systeminformation: ['src/features/disks/'],
  chokidar: ['src/package-management/apps/catalog.ts'],
  hono: ['src/http/', 'src/features/'],
  '@hono/node-server': ['root'],
  '@valibot/to-json-schema': ['src/http/'],
  valibot: [
    ...['src/config/', 'src/http/', 'src/device/', 'src/jobs/', 'src/features/'],
    'src/package-management/',
  ],
};

const MOST_COLUMNS = 100;
const MOST_FILE_LINES = 300;
const MOST_FILES = 25;
const MOST_FUNCTION_LINES = 80;
const NAMES_OF_NOTHING = ['util', 'utils', 'common', 'shared', 'lib', 'helper', 'helpers', 'misc'];

const sources = filesBelow('src').filter((path) => path.endsWith('.ts'));
const imports = sources.flatMap(importsOf);

describe('who may import whom', () => {
  test('there is something to look at', () => {
    expect(sources.length).toBeGreaterThan(40);
    expect(imports.length).toBeGreaterThan(100);
  });

  test.each(roomsOf(sources))('%s imports no room that it may not', (room) => {
    const foreign = imports
      .filter(({ from, isFile }) => isFile && roomOf(from) === room)
      .filter((entry) => !isAllowed(entry));
    const found = foreign.map(({ from, to }) => `${from} → ${to}`);
    expect(found.filter((text) => !FORGIVEN.includes(text))).toEqual([]);
  });

  test.each([
    ['src/http/app.ts', 'src/features/forge/forge.ts'],
    ['src/jobs/queue.ts', 'src/features/feature.ts'],
    ['src/device/exec.ts', 'src/jobs/queue.ts'],
    ['src/daemon.ts', 'src/features/forge/forge.ts'],
    ['src/request-handler.ts', 'src/features/login/feature.ts'],
    ['src/features/disks/routes.ts', 'src/features.ts'],
    ['src/features/uploads/routes.ts', 'src/features/forge/forge.ts'],
    ['src/features/uploads/routes.ts', 'src/package-management/opkg/changing/lock.ts'],
    ['src/features/packages/routes.ts', 'src/package-management/opkg/changing/lock.ts'],
    ['src/package-management/opkg/changing/lock.ts', 'src/package-management/apps/catalog.ts'],
    ['src/package-management/opkg/changing/lock.ts', 'src/package-management/apk/world.ts'],
    ['src/package-management/manager.ts', 'src/features/packages/routes.ts'],
    ['src/package-management/package-tools.ts', 'src/http/route.ts'],
    ['src/jobs/queue.ts', 'src/package-management/manager.ts'],
  ])('%s may not import %s', (from, to) => {
    expect(isAllowed({ from, to, isFile: true, isType: false })).toBe(false);
  });

  test('each package is imported where it belongs, and no other is', () => {
    const packages = imports.filter(({ to, isFile }) => !isFile && !to.startsWith('node:'));
    const misplaced = packages.filter(
      ({ from, to }) =>
        !(PACKAGES[to] ?? []).some((place) => from.startsWith(place) || roomOf(from) === place),
    );
    expect(misplaced.map(({ from, to }) => `${from} → ${to}`)).toEqual([]);
  });

  test('nobody starts processes past device/exec.ts', () => {
    expect(
      imports
        .filter(({ to }) => to === 'node:child_process' || to === 'node:cluster')
        .map(({ from }) => from)
        .filter((from) => from !== 'src/device/exec.ts'),
    ).toEqual([]);
  });

  test('no import leads outside of src', () => {
    expect(
      imports
        .filter(({ to, isFile }) => isFile && !to.startsWith('src/'))
        .map(({ from, to }) => `${from} → ${to}`),
    ).toEqual([]);
  });

  test('no files import each other in a circle, types included', () => {
    expect(findCircle()).toEqual([]);
  });
});

/** Beside dot-files, and what is installed and built. */
const TOP_LEVEL = [
  ...['src', 'test', 'packaging', 'init', 'docs', 'node_modules', 'dist'],
  ...['package.json', 'package-lock.json', 'tsconfig.json', 'vitest.config.ts'],
  ...['README.md', 'README.zh-CN.md', 'CHANGELOG.md', 'LICENSE'],
];

describe('shape', () => {
  test('at the top lies only what a newcomer, a tool or the law looks for there', () => {
    const names = readdirSync(new URL('..', import.meta.url));
    expect(names.filter((name) => !name.startsWith('.') && !TOP_LEVEL.includes(name))).toEqual([]);
  });

  const written = [...filesBelow('src'), ...filesBelow('test'), ...filesBelow('packaging')].filter(
    (path) => ['.ts', '.js', '.mjs', '.css'].includes(extname(path)),
  );

  test(`no file is longer than ${MOST_FILE_LINES} lines`, () => {
    expect(
      written.filter((path) => readSource(path).trimEnd().split('\n').length > MOST_FILE_LINES),
    ).toEqual([]);
  });

  test(`no function is longer than ${MOST_FUNCTION_LINES} lines`, () => {
    expect(
      written.flatMap(functionsOf).filter(({ lineCount }) => lineCount > MOST_FUNCTION_LINES),
    ).toEqual([]);
  });

  // Code has so many bytes, whatever counts them; the pages' scripts have so many characters.
  const widthOf = (line: string, where: string): number =>
    /\.ts:/.test(where) ? Buffer.byteLength(line) : Array.from(line).length;

  test(`no line of src is longer than ${MOST_COLUMNS} characters, but for addresses`, () => {
    const long = filesBelow('src')
      // JSON cannot break a text in two.
      .filter((path) => !/\.(?:svg|json)$/.test(path))
      .flatMap((path) =>
        readSource(path)
          .split('\n')
          .map((line, index) => ({ line, where: `${path}:${index + 1}` })),
      )
      .filter(({ line, where }) => widthOf(line, where) > MOST_COLUMNS && !line.includes('://'));
    expect(long.map(({ where }) => where)).toEqual([]);
  });

  test(`no folder of src has more than ${MOST_FILES} files`, () => {
    const folders = [...new Set(sources.map((path) => dirname(path)))];
    const sizeOf = (folder: string): number =>
      sources.filter((path) => dirname(path) === folder).length;
    expect(folders.filter((folder) => sizeOf(folder) > MOST_FILES)).toEqual([]);
  });

  test('no file or folder is named for nothing in particular', () => {
    const names = filesBelow('.')
      .filter((path) => !path.startsWith('test/'))
      .flatMap((path) => path.split('/'));
    expect(
      names.filter((part) =>
        NAMES_OF_NOTHING.includes(basename(part, extname(part)).toLowerCase()),
      ),
    ).toEqual([]);
  });

  test('no file only hands on what others export', () => {
    const barrels = sources.filter((path) =>
      parseSource(path).statements.some(
        (statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier !== undefined,
      ),
    );
    expect(barrels).toEqual([]);
    expect(sources.filter((path) => /^index\./.test(basename(path)))).toEqual([]);
  });

  test('only config reads the environment', () => {
    expect(
      sources.filter((path) => !path.startsWith('src/config/') && readsEnvironment(path)),
    ).toEqual([]);
  });
});

function roomOf(path: string): string {
  const [, first = '', ...rest] = path.split('/');
  const inner = `${first}/${rest[0] ?? ''}`;
  if (rest.length > 1 && (first === 'features' || MANAGERS.test(inner))) return inner;
  if (rest.length > 0) return first;
  if (first === 'features.ts') return 'list';
  const name = first.replace(/\.ts$/, '');
  return SINGLE_FILES.includes(name) ? name : 'root';
}

function roomsOf(paths: readonly string[]): string[] {
  return [...new Set(paths.map(roomOf))];
}

function isAllowed({ from, to, isType }: Import): boolean {
  const [room, other] = [roomOf(from), roomOf(to)];
  if (room === other || (isType && FREE_TYPES.includes(to))) return true;
  // One line names each package manager.
  if (MANAGERS.test(other)) return from === 'src/package-management/select.ts';
  if (MANAGERS.test(room) && other === 'package-management') return !ABOVE_MANAGERS.test(to);
  if (room.startsWith('features/')) return FOUNDATION.includes(other) || OFFERED.includes(to);
  const allowed = MAY_IMPORT[MANAGERS.test(room) ? 'package-management' : room] ?? [];
  return allowed.some(
    (name) =>
      other === name ||
      other === name.replace('*', other.split('/')[1] ?? '') ||
      to === `src/${name}.ts`,
  );
}

/** @returns the files of one circle of imports; none if there is no circle */
function findCircle(): string[] {
  const targets = new Map(
    sources.map((path) => [
      path,
      imports.filter(({ from, isFile }) => from === path && isFile).map(({ to }) => to),
    ]),
  );
  const cleared = new Set<string>();
  const search = (path: string, trail: readonly string[]): string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (cleared.has(path)) return [];
    for (const next of targets.get(path) ?? []) {
      const circle = search(next, [...trail, path]);
      if (circle.length > 0) return circle;
    }
    cleared.add(path);
    return [];
  };
  return sources.map((path) => search(path, [])).find((circle) => circle.length > 0) ?? [];
}

function readsEnvironment(path: string): boolean {
  const found: ts.Node[] = [];
  visit(parseSource(path), (node) => {
    if (ts.isPropertyAccessExpression(node) && node.getText() === 'process.env') found.push(node);
  });
  return found.length > 0 || imports.some(({ from, to }) => from === path && to === 'node:process');
}
