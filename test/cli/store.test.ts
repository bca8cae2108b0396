import { spawn } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import type { FeedPackage } from '../device/feed-index.ts';
import { simplePackage } from '../device/packages/package-parts.ts';
import { DEPOTCTL, shareClientTest, startClientTest, type ClientTest } from './start-depotctl.ts';

interface Item {
  name: string;
  installed_version?: string;
}

describe('where nothing is installed', () => {
  const client = shareClientTest();

  test('search finds by name and by words of the description, apps and packages', async () => {
    const { depotctl } = client();

    const { code, stdout } = await depotctl('search', 'demo');
    const items = JSON.parse((await depotctl('search', 'demo', '--json')).stdout) as Item[];

    expect(code).toBe(0);
    expect(stdout.split('\n')[0]).toMatch(/^NAME +VERSION +STATE +SIZE +WHAT$/);
    expect(items[0]?.name).toBe('demo');
    expect(items.map(({ name }) => name)).toEqual(expect.arrayContaining(['demo-app', 'libdemo']));
    for (const { name } of items) expect(stdout).toContain(name);
  });

  test('search for what nobody offers says so, and gives scripts an empty list', async () => {
    const { depotctl } = client();

    expect(await depotctl('search', 'zzzzzz')).toMatchObject({ code: 0, stdout: '' });
    expect(await depotctl('search', 'zzzzzz', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
    const { stderr } = await depotctl('search', '--upgradable', 'demo');
    expect(stderr).toContain('described so nothing is newer');
  });

  test('search with a letter wrong shows what was probably meant', async () => {
    const { depotctl } = client();

    const { code, stdout, stderr } = await depotctl('search', 'nots');

    expect(code).toBe(0);
    expect(stderr).toContain('this is what "notes" finds:');
    expect(stdout).toMatch(/^notes /m);
  });

  test('info says of what is not there what it takes with all that it needs', async () => {
    const { depotctl } = client();

    const { stdout } = await depotctl('info', 'demo');

    expect(stdout).toMatch(/^to fetch +.* (?:Ki)?B, with all that it needs$/m);
    expect(stdout).toMatch(/^on the disk +.* (?:Ki)?B; .* are free$/m);
  });

  test('plan and --dry-run show what would change, and change nothing', async () => {
    const { depotctl, device } = client();

    const plan = await depotctl('plan', 'install', 'demo');
    const dryRun = await depotctl('install', 'demo', '--dry-run');

    expect(plan).toMatchObject({ code: 0, stderr: '' });
    expect(dryRun).toEqual(plan);
    expect(plan.stdout).toMatch(/^install +demo-app +1\.0-1 +.*dependency$/m);
    expect(plan.stdout).toMatch(/to be fetched: .* on the disk: .* free: .* then/);
    expect((await device.database()).has('demo-app')).toBe(false);
  });

  test('a plan that is not possible ends with 1 and says why; a name that is near is offered', async () => {
    const { depotctl } = client();

    const { code, stderr } = await depotctl('plan', 'install', 'nots');

    expect(code).toBe(1);
    expect(stderr).toContain('→ did you mean notes?');
  });

  test('an install of a name that is near to one says which, after the cause', async () => {
    const { depotctl } = client();

    const { code, stderr } = await depotctl('install', 'nots');

    expect(code).toBe(1);
    expect(stderr).toMatch(
      /^depotctl: cannot install nots: no feed offers it .*\ndepotctl: {3}→ did you mean notes\?\ndepotctl: {3}nothing was left behind: all is as it was before\n$/,
    );
  });

  test('a plan for a name that is known, and not there, does not ask whether it was meant', async () => {
    const { depotctl } = client();

    const { stderr } = await depotctl('plan', 'remove', 'notes');

    expect(stderr).toContain('notes: it is not installed');
    expect(stderr).toContain('→ Look at the list of what is installed for its name.');
    expect(stderr).not.toContain('did you mean');
  });
});

describe('where an app is installed, of which a newer version comes', () => {
  const client = shareClientTest({}, async ({ depotctl, device }) => {
    await depotctl('install', 'demo');
    device.publish(2);
    await depotctl('update');
  });

  test('info shows what is known of an app, and ends with 1 for what is not known', async () => {
    const { depotctl } = client();
    const { code, stdout } = await depotctl('info', 'demo-app');

    expect(code).toBe(0);
    expect(stdout).toMatch(/^name +demo-app$/m);
    expect(stdout).toMatch(/^installed +1\.0-1$/m);
    expect(stdout).toMatch(/^needs +.*libdemo/m);
    expect(stdout).toMatch(/^section +utils$/m);
    expect((await depotctl('info', 'notes')).stdout).not.toContain('section');
    expect((await depotctl('info', 'zzzzzz')).code).toBe(1);
  });

  test('list --all has the packages, too, and --upgradable what has a newer version', async () => {
    const { depotctl } = client();

    const all = JSON.parse((await depotctl('list', '--all', '--json')).stdout) as Item[];
    const upgradable = await depotctl('list', '--upgradable');

    expect(all.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['demo', 'demo-app', 'libc']),
    );
    expect(all.filter(({ installed_version: version }) => version === undefined)).toEqual([]);
    expect(upgradable.stdout).toMatch(/^demo-app +1\.0-1 → 1\.1-1 +upgradable/m);
    expect(upgradable.stdout).not.toContain('libc ');
  });

  test('upgrade without a name upgrades what its owner installed', async () => {
    const { depotctl, device } = client();

    const { code } = await depotctl('upgrade');

    expect(code).toBe(0);
    expect((await device.database()).get('demo-app')?.version).toBe('1.1-1');
    expect((await depotctl('plan', 'upgrade')).stdout).toContain('nothing to do');
  });
});

test('search --names has all names that begin so, and no others, however many', async () => {
  const names = Array.from({ length: 205 }, (_, at) => `many-${String(at).padStart(3, '0')}`);
  const { depotctl } = await startClientTest({
    packages: [...names, 'so-many-000'].map((name) => simplePackage(name)),
  });

  expect((await depotctl('search', '--names', 'many-')).stdout.trim().split('\n')).toEqual(names);
  expect(await depotctl('search', '--names', '')).toMatchObject({ code: 0, stdout: '' });
});

test('an upgrade of all takes what came with apps, too, and names what it leaves to the firmware', async () => {
  const { depotctl, device } = await startClientTest();
  await depotctl('install', 'demo');
  await depotctl('install', 'notes-app');
  await mkdir(join(device.root, 'rom/usr/lib/opkg'), { recursive: true });
  await writeFile(
    join(device.root, 'rom/usr/lib/opkg/status'),
    'Package: notes-app\nVersion: 1.0-1\nStatus: install user installed\n\n',
  );
  device.publish(2);
  await depotctl('update');

  const first = await depotctl('plan', 'upgrade');
  await depotctl('upgrade');
  const again = await depotctl('plan', 'upgrade');
  await depotctl('upgrade', 'notes-app');
  const last = await depotctl('plan', 'upgrade');

  expect(first.stdout).toMatch(/^upgrade +demo-app /m);
  expect(first.stdout).toMatch(/^upgrade +libdemo /m);
  expect(again.stdout).toBe('nothing to do: all is as asked for\n');
  for (const { stderr } of [first, again]) {
    expect(stderr).toContain('1 belongs to the firmware: it comes with the next one (notes-app)');
  }
  expect(last.stderr).toBe('');
});

test('where nothing fits, the largest that could go are named, and nothing of the firmware', async () => {
  const wanted = [
    simplePackage('wanted', { fields: { Depends: 'libc, libonce, huge' } }),
    simplePackage('huge', { installedSizeBytes: 10 ** 15 }),
  ];
  const [bulky, ofImage] = ['bulky', 'ofimage'].map((name) =>
    simplePackage(name, { files: { [`/usr/share/${name}`]: 'x'.repeat(99_000) } }),
  ) as [FeedPackage, FeedPackage];
  const { depotctl, device } = await startClientTest({ packages: [...wanted, bulky, ofImage] });
  await mkdir(join(device.root, 'rom/usr/lib/opkg'), { recursive: true });
  await writeFile(
    join(device.root, 'rom/usr/lib/opkg/status'),
    'Package: libc\nVersion: 1\nStatus: install user installed\n\n' +
      'Package: ofimage\nVersion: 1.0-1\nStatus: install user installed\n\n',
  );
  await depotctl('install', 'bulky', 'ofimage');

  const plan = await depotctl('plan', 'install', 'wanted');
  const job = await depotctl('install', 'wanted');

  expect([plan.code, job.code]).toEqual([1, 1]);
  for (const name of ['huge', 'libonce', 'wanted']) expect(plan.stdout).toContain(name);
  expect(plan.stdout).toContain('909 TiB are missing');
  expect((await depotctl('info', 'wanted')).stdout).toMatch(/on the disk +909 TiB; .* are free/);
  for (const { stderr } of [plan, job]) {
    expect(stderr).toMatch(/→ depotctl remove bulky would free 110 KiB/);
    expect(stderr).not.toContain('ofimage');
  }
});

describe('at a terminal', () => {
  const client = shareClientTest();

  test('install shows the plan and asks; no leaves everything as it is', async () => {
    const { device } = client();

    const { code, shown } = await atTerminal(client(), 'n', 'install', 'demo');

    expect(code).toBe(1);
    expect(shown).toContain('demo-app');
    expect(shown).toContain('nothing was changed');
    expect((await device.database()).has('demo-app')).toBe(false);
  });

  test('Enter goes on, with a line that says how far it is', async () => {
    const { device } = client();

    const { code, shown } = await atTerminal(client(), '', 'install', 'demo');

    expect(code).toBe(0);
    expect(shown).toContain('install\r\u001b[K');
    expect((await device.database()).get('demo-app')?.state).toBe('installed');
  });

  test('-y asks nothing', async () => {
    const { device } = client();

    const { code, shown } = await atTerminal(client(), 'n', 'install', '-y', 'tiny-01');

    expect([code, shown.includes('Go on?')]).toEqual([0, false]);
    expect((await device.database()).has('tiny-01')).toBe(true);
  });
});

/** Runs depotctl at a terminal of its own and answers its question. */
async function atTerminal(
  { daemon, env }: Pick<ClientTest, 'daemon' | 'env'>,
  answer: string,
  ...words: readonly string[]
): Promise<{ code: unknown; shown: string }> {
  const command = [process.execPath, DEPOTCTL, '--url', daemon.url, ...words].join(' ');
  const terminal = spawn('script', ['-qec', command, '/dev/null'], {
    env: { ...env, TERM: 'xterm', NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let shown = '';
  let isAnswered = false;
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (isAnswered || !shown.includes('Go on? [Y/n] ')) return;
    isAnswered = true;
    terminal.stdin.write(`${answer}\r`);
  });
  const code = await new Promise((resolve) => terminal.on('close', resolve));
  return { code, shown };
}
