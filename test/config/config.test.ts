import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { readConfig, withoutRestart, type Config } from '../../src/config/config.ts';
import { SECTIONS } from '../../src/features.ts';

let folder: string;
let file: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-config-'));
  file = join(folder, 'depotd');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/**
 * One wrong line in a file, after the line `config depotd 'main'`, and what the message must say
 * after file and line.
 */
const MISTAKES: [string, string][] = [
  ['\toption colour red', 'cannot use main.colour: no such option; main has listen,'],
  ['\toption __proto__ red', 'cannot use main.__proto__: no such option'],
  ['\toption constructor red', 'cannot use main.constructor: no such option'],
  [
    '\toption keep_jobs 0',
    'cannot use main.keep_jobs "0": a whole number from 1 to 100000 is expected',
  ],
  [
    '\toption listen 8728',
    'cannot use main.listen "8728": HOST:PORT, [V6]:PORT or unix:PATH is expected',
  ],
  ['\tlist base /x', 'cannot use list for main.base: it takes one value (option)'],
  [
    'config depotd paint',
    `cannot use the section paint: ${['main', ...SECTIONS.map(({ name }) => name)].join(', ')} are known`,
  ],
  ['config constructor', 'cannot use the section constructor: '],
  ['\toptoin auth none', 'cannot read "optoin"'],
];

test.each(MISTAKES)('the line %j is named with file and line', async (line, message) => {
  await writeFile(file, `config depotd 'main'\n\n${line}\n`);

  const { problems } = readConfig({ file, overrides: [] }, SECTIONS);

  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`${file}:3: ${message}`);
});

test('an option of an earlier build is no mistake, and a warning says that it does nothing', async () => {
  await writeFile(file, "config depotd 'forge'\n\toption cache_mb 256\n");

  const { config, problems, warnings } = readConfig({ file, overrides: [] }, SECTIONS);

  expect(problems).toEqual([]);
  expect(warnings).toEqual([`${file}:2: forge.cache_mb does nothing any more`]);
  expect(config.forge).not.toHaveProperty('cache_mb');
});

test('all mistakes are told at once', async () => {
  await writeFile(file, "config depotd 'main'\n\toption auth nobody\n\toption base x\nconfig x\n");

  const { problems } = readConfig({ file, overrides: ['main.root=x', 'what'] }, SECTIONS);

  const positions = problems.map((problem) => /^(--set|.*?:\d+)/.exec(problem)?.[0]).sort();
  expect(positions).toEqual(['--set', '--set', `${file}:2`, `${file}:3`, `${file}:4`]);
});

test('a section may go by its type or by its name, and a later option wins', async () => {
  await writeFile(
    file,
    "config main\n\toption keep_jobs 5\n\toption keep_jobs 6\nconfig depotd 'forge'\n\toption expose all\n",
  );

  const { config, problems } = readConfig({ file, overrides: [] }, SECTIONS);

  expect(problems).toEqual([]);
  expect(config.main.keep_jobs).toBe(6);
  expect(config.forge?.expose).toBe('all');
});

test('a section without a name, as uci add makes it, is main', async () => {
  await writeFile(file, 'config depotd\n\toption keep_jobs 5\n\toption colour red\n');

  const { config, problems } = readConfig({ file, overrides: [] }, SECTIONS);

  expect(config.main.keep_jobs).toBe(5);
  expect(problems).toEqual([
    expect.stringContaining(`${file}:3: cannot use main.colour: no such option`),
  ]);
});

test('lists add up in the file, and --set replaces all of it', async () => {
  await writeFile(
    file,
    "config depotd 'main'\n\tlist listen 127.0.0.1:1\n\tlist listen 127.0.0.1:2\n\tlist hosts a.lan\n",
  );

  expect(readConfig({ file, overrides: [] }, SECTIONS).config.main.listen).toEqual([
    '127.0.0.1:1',
    '127.0.0.1:2',
  ]);
  const { main } = readConfig({
    file,
    overrides: ['main.listen=127.0.0.1:3', 'main.listen=unix:/run/d'],
  }).config;
  expect(main.listen).toEqual(['127.0.0.1:3', 'unix:/run/d']);
  expect(main.hosts).toEqual(['a.lan']);
});

test('--set of a single value wins over the file, and the last one over those before', async () => {
  await writeFile(file, "config depotd 'main'\n\toption keep_jobs 5\n");

  expect(
    readConfig({ file, overrides: ['main.keep_jobs=7', 'main.keep_jobs=8'] }, SECTIONS).config.main
      .keep_jobs,
  ).toBe(8);
});

test('a value given with --set may hold an equals sign', () => {
  expect(
    readConfig({ file: '/dev/null', overrides: ['container.start=--name=value'] }, SECTIONS).config
      .container?.start,
  ).toEqual(['--name=value']);
});

test.each(['', 'main', 'main.auth', '=', '.=x', 'main=x', '.auth=none', 'auth=none'])(
  '--set %j cannot be read',
  (override) => {
    expect(readConfig({ file: '/dev/null', overrides: [override] }, SECTIONS).problems).toEqual([
      expect.stringContaining('SECTION.OPTION=VALUE is expected'),
    ]);
  },
);

test.each([
  'paint.colour=red',
  'main.colour=red',
  '__proto__.polluted=yes',
  'main.__proto__=yes',
  'constructor.prototype=x',
])('--set %j names no option', (override) => {
  expect(readConfig({ file: '/dev/null', overrides: [override] }, SECTIONS).problems).toEqual([
    expect.stringContaining('no such option'),
  ]);
});

/** Values that are fine one by one. */
const CONTRADICTIONS: [string, string[]][] = [
  ['main.auth none with main.listen 0.0.0.0:8728', ['main.auth=none', 'main.listen=0.0.0.0:8728']],
  [
    'main.auth none with main.listen [::]:8728',
    ['main.auth=none', 'main.listen=127.0.0.1:1', 'main.listen=[::]:8728'],
  ],
  [
    'main.auth none with main.listen 192.168.1.1:80',
    ['main.auth=none', 'main.listen=192.168.1.1:80'],
  ],
  [
    'main.auth none with main.listen 127.0.0.1.example.org:80',
    ['main.auth=none', 'main.listen=127.0.0.1.example.org:80'],
  ],
  ['main.auth none with main.listen router:80', ['main.auth=none', 'main.listen=router:80']],
  [
    'container.engine command without container.start and container.stop',
    ['container.engine=command'],
  ],
  [
    'container.engine command without container.start and container.stop',
    ['container.engine=command', 'container.start=x'],
  ],
];

test.each(CONTRADICTIONS)('cannot use %s', (message, overrides) => {
  expect(readConfig({ file: '/dev/null', overrides }, SECTIONS).problems).toEqual([
    expect.stringContaining(`cannot use ${message}`),
  ]);
});

test('two options that do not go together are told with file and line, beside other mistakes', async () => {
  await writeFile(
    file,
    "config depotd 'main'\n\toption auth none\n\tlist listen 0.0.0.0:1\n\toption keep_jobs many\n",
  );

  expect(readConfig({ file, overrides: [] }, SECTIONS).problems).toEqual([
    expect.stringContaining(`${file}:4: cannot use main.keep_jobs`),
    expect.stringContaining(`${file}:2: cannot use main.auth none with main.listen 0.0.0.0:1`),
  ]);
});

test('an option given by --set is told as that, and one that cannot be read contradicts nothing', () => {
  const problemsOf = (...overrides: string[]): string[] =>
    readConfig({ file: '/dev/null', overrides }, SECTIONS).problems;

  expect(problemsOf('main.auth=none', 'main.listen=0.0.0.0:1')).toEqual([
    expect.stringContaining('--set: cannot use main.auth none'),
  ]);
  expect(problemsOf('container.engine=command', 'container.start=x', 'container.stop=')).toEqual(
    [],
  );
  expect(problemsOf('main.auth=none', 'main.listen=nowhere')).toEqual([
    expect.stringContaining('cannot use main.listen'),
  ]);
});

test.each<[string[], boolean]>([
  [['forge.path=/cgi-bin'], true],
  [['forge.path=/cgi-bin/panel'], true],
  [['forge.path=/cgi-bin/panel/admin'], true],
  [['forge.path=/admin/store'], true],
  [['main.base=/api/v1/panel'], true],
  [['forge.path=/cgi-bin/git'], false],
  [['forge.path=/cgi-bin/panel/git'], false],
  [['forge.path=/cgi-bin/panel2'], false],
  [['forge.path=/administration'], false],
])('%j: that the forge hides the panel is told: %j', (overrides, isSaid) => {
  const { warnings } = readConfig({ file: '/dev/null', overrides }, SECTIONS);
  const doubt = /^(?:--set: )?forge\.path \S+ with main\.base \S+ hides the panel/;
  expect(warnings).toEqual(isSaid ? [expect.stringMatching(doubt)] : []);
});

test.each(['127.0.0.1:1', '127.255.0.9:1', 'localhost:1', '[::1]:1', 'unix:/run/depotd.sock'])(
  'main.auth none goes with main.listen %s',
  (address) => {
    expect(
      readConfig({ file: '/dev/null', overrides: ['main.auth=none', `main.listen=${address}`] })
        .problems,
    ).toEqual([]);
  },
);

test('what cannot change under running jobs waits for a restart, a feature’s options too', () => {
  const read = (...overrides: string[]): Config =>
    readConfig({ file: '/dev/null', overrides }, SECTIONS).config;
  const running = read('main.keep_jobs=5');

  const { config, waiting } = withoutRestart(
    running,
    read('main.root=/mnt', 'main.keep_jobs=7', 'packages.manager=opkg', 'forge.expose=all'),
    SECTIONS,
  );

  expect(waiting).toEqual(['main.root', 'packages.manager']);
  expect([config.main.root, config.packages?.manager]).toEqual(['/', 'auto']);
  expect([config.main.keep_jobs, config.forge?.expose]).toEqual([7, 'all']);
});
