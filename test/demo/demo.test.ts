import { spawn, type ChildProcess } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const REPOSITORY = join(import.meta.dirname, '../..');

test('the demo starts, its three lines do what they say, and Ctrl-C leaves nothing behind, twice', async () => {
  const place = await createPlace();
  for (const round of ['on a new folder', 'on what the one before left']) {
    const demo = await startDemo(place);
    const lines = demo
      .printed()
      .split('\n')
      .filter((line) => line.startsWith('  curl '));

    const [installed = '', followed = '', listed = ''] = await paste(lines);
    const page = await openApp(demo.printed(), listed);
    demo.signal('SIGINT');

    expect(lines.length).toBe(3);
    expect(JSON.parse(installed)).toMatchObject({ code: 0, stderr: '' });
    expect(followed).toContain('event: end');
    expect((JSON.parse(listed) as { name: string }[]).map(({ name }) => name)).toEqual(['demo']);
    expect(page).toBe('On a device, this is the page of demo.');
    expect(await demo.ended, round).toBe(0);
    expect(await processesWith(place.folder)).toEqual([]);
    expect(await readdir(place.elsewhere, { recursive: true })).toEqual([]);
  }
});

test('what is running on the device ends with the demo', async () => {
  const place = await createPlace();
  const demo = await startDemo(place);
  const [install = ''] = demo
    .printed()
    .split('\n')
    .filter((line) => line.startsWith('  curl '));
  await paste([
    install.replace('package=demo', 'package=slow'),
    install.replace('package=demo', 'package=notes'),
  ]);

  demo.signal('SIGTERM');

  expect(await demo.ended).toBe(0);
  expect(await processesWith(place.folder)).toEqual([]);
});

test('a second demo on the same folder says where the first one is and how to end it', async () => {
  const place = await createPlace();
  const demo = await startDemo(place);

  const second = await startDemo(place);

  expect(await second.ended).toBe(1);
  expect(second.printed()).toMatch(
    /cannot start the demo: one runs in \S+ already, at http:\/\/127\.0\.0\.1:\d+; end it with Ctrl-C where it was started, or: kill \d+\n$/,
  );
  demo.signal('SIGINT');
  expect(await demo.ended).toBe(0);
});

test("a folder that is not a demo's is not touched", async () => {
  const place = await createPlace();
  await mkdir(place.folder);
  await writeFile(join(place.folder, 'letter.txt'), 'dear');

  const demo = await startDemo(place);

  expect(await demo.ended).toBe(1);
  expect(demo.printed()).toContain(
    'holds something else; remove it, or name another: npm run demo -- FOLDER',
  );
  expect(await readdir(place.folder)).toEqual(['letter.txt']);
});

/** Where the page's button leads: the app's own page. */
async function openApp(printed: string, listed: string): Promise<string> {
  const [, api = ''] = /^ {2}(http:\S+)\/$/m.exec(printed) ?? [];
  const answer = await fetch(`${api}/admin/store/token?panel_url=1`);
  const token = (await answer.json()) as { panel_url: string };
  const [app] = JSON.parse(listed) as { entry: string }[];
  return (await fetch(new URL(app?.entry ?? '', token.panel_url))).text();
}

interface Place {
  folder: string;
  /** Home, temporary folder and working directory of the demo: it must stay empty. */
  elsewhere: string;
}

async function createPlace(): Promise<Place> {
  const directory = await temporaryFolder();
  const place = { folder: join(directory, 'demo'), elsewhere: join(directory, 'elsewhere') };
  await mkdir(place.elsewhere);
  return place;
}

interface RunningDemo {
  printed: () => string;
  ended: Promise<number | null>;
  /** To the whole group, as a terminal does. */
  signal: (name: 'SIGINT' | 'SIGTERM') => void;
}

/**
 * Starts what the script in package.json starts; settles when it has printed its lines or has
 * ended.
 */
async function startDemo({ folder, elsewhere }: Place): Promise<RunningDemo> {
  const { scripts } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as {
    scripts: { demo: string };
  };
  const start = (scripts.demo.split('&&').at(-1) ?? '')
    .trim()
    .replace('test/demo', join(REPOSITORY, 'test/demo'))
    .replace('tsx ', `${join(REPOSITORY, 'node_modules/tsx/dist/loader.mjs')} `);
  const child = spawn('sh', ['-c', `exec env ${start} "$0"`, folder], {
    cwd: elsewhere,
    detached: true,
    env: { ...process.env, HOME: elsewhere, TMPDIR: elsewhere },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const ready = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.includes('Ctrl-C ends it all.')) resolve();
      });
    }
  });
  onTestFinished(() => endGroup(child));
  await Promise.race([ready, ended]);
  return { printed: () => text, ended, signal: (name) => process.kill(-(child.pid ?? 0), name) };
}

async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.on('exit', resolve));
  child.kill('SIGTERM');
  await ended;
}

/** As somebody pastes them into one shell; the outputs one by one. */
async function paste(lines: readonly string[]): Promise<string[]> {
  const { stdout, stderr } = await runCommand(['bash', '-c', lines.join('\necho ==\n')]);
  expect(stderr).toBe('');
  return stdout.split('==\n');
}

/** Command lines of processes that name the folder. */
async function processesWith(folder: string): Promise<string[]> {
  const { stdout } = await runCommand(['ps', '-eo', 'args']);
  return stdout.split('\n').filter((line) => line.includes(folder));
}
