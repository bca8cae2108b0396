import { spawn } from 'node:child_process';
import { chmod, mkdir, readdir, rm, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, describe, expect, onTestFinished, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { createPanel, type Panel } from '../support/panel.ts';
import { slowPackage } from '../device/packages/awkward-packages.ts';
import { DEPOTCTL, shareClientTest, startClientTest, type ClientTest } from './start-depotctl.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const WITH_PASSWORD = { daemon: { set: ['main.auth=password'] } };

async function setPassword({ withInput }: ClientTest): Promise<void> {
  expect(await withInput('secret\n', 'passwd')).toMatchObject({ code: 0 });
}

/** Who is logged in, the tests below say one after the other. */
const client = shareClientTest(WITH_PASSWORD, setPassword);

test('at the socket of the owner every command works without a log-in', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'owner.sock');
  const daemon = { set: ['main.auth=password', `main.owner_socket=${path}`] };
  const { env } = await startClientTest({ daemon });
  const run = (...words: string[]) =>
    runCommand([process.execPath, DEPOTCTL, '--url', `unix:${path}`, ...words], { env });

  expect((await run('install', 'demo')).code).toBe(0);
  expect((await run('list')).stdout).toContain('demo');
  expect((await run('remove', 'demo')).code).toBe(0);
});

test('with a password every command says how to log in, and works after it', async () => {
  const { depotctl, withInput, daemon } = client();

  const refused = await depotctl('install', 'demo', 'tiny-01');
  expect(refused).toEqual({
    code: 1,
    stdout: '',
    stderr: `depotctl: cannot answer without a log-in\ndepotctl: log in with: depotctl --url ${daemon.url} login\n`,
  });
  expect((await withInput('wrong\n', 'login')).stderr).toBe(
    'depotctl: cannot log in: the password is wrong\n',
  );
  expect((await withInput('secret\n', 'login')).code).toBe(0);

  const installed = await depotctl('install', 'demo');
  expect([installed.code, installed.stdout.includes('Configuring demo-app.')]).toEqual([0, true]);
  expect((await depotctl('list')).stdout).toContain('demo');
  expect((await depotctl('log', '-f')).stdout).toContain('Configuring demo-app.');
  expect((await depotctl('jobs')).stdout).toContain('done');
  expect((await depotctl('stop', 'latest')).stderr).toContain('has ended already');
});

test('the session is in a file of this user alone, one an address, and logging out ends it there and here', async () => {
  const { depotctl, withInput, start, env } = client();
  await withInput('secret\n', 'login');
  const folder = join(env.XDG_RUNTIME_DIR ?? '', 'depotctl');
  const [file = '', ...others] = await readdir(folder);

  expect(others).toEqual([]);
  expect([
    (await stat(folder)).mode & 0o777,
    (await stat(join(folder, file))).mode & 0o777,
  ]).toEqual([0o700, 0o600]);
  expect((await start('list').outcome).stderr).toContain('cannot answer without a log-in');

  expect(await depotctl('logout')).toMatchObject({ code: 0, stderr: 'depotctl: logged out\n' });
  expect(await readdir(folder)).toEqual([]);
  expect((await depotctl('list')).code).toBe(1);
  expect(await depotctl('logout')).toMatchObject({
    code: 0,
    stderr: 'depotctl: nobody was logged in\n',
  });
});

test.each(['a link', 'a folder that others may look into'])(
  '%s where sessions belong is not used',
  async (planted) => {
    const { withInput, depotctl, env } = client();
    const folder = join(env.XDG_RUNTIME_DIR ?? '', 'depotctl');
    const elsewhere = await temporaryFolder();
    await rm(folder, { recursive: true, force: true });
    onTestFinished(() => rm(folder, { recursive: true }));
    if (planted === 'a link') await symlink(elsewhere, folder);
    else await mkdir(folder).then(() => chmod(folder, 0o755));

    const { code, stderr } = await withInput('secret\n', 'login');

    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `depotctl: cannot keep the session in ${folder}: it is not a folder of this user alone\n`,
    });
    expect([await readdir(elsewhere), await readdir(folder)]).toEqual([[], []]);
    expect((await depotctl('list')).code).toBe(1);
  },
);

test('without a folder that goes with the log-in, one for temporary files is used', async () => {
  const { daemon, device, env } = client();
  const run = (input: string, ...words: string[]) =>
    runCommand([process.execPath, DEPOTCTL, '--url', daemon.url, ...words], {
      env: { ...env, XDG_RUNTIME_DIR: '', TMPDIR: join(device.root, 'tmp') },
      input,
    });

  await run('secret\n', 'login');

  expect((await run('', 'token')).code).toBe(0);
  expect(await readdir(join(device.root, `tmp/depotctl-${process.getuid?.() ?? 0}`))).toHaveLength(
    1,
  );
});

test('at a terminal the password is asked for and not shown', async () => {
  const { daemon, env } = client();
  const terminal = spawn(
    'script',
    ['-qec', `${process.execPath} ${DEPOTCTL} --url ${daemon.url} login`, '/dev/null'],
    { env: { ...env, TERM: 'xterm' }, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  let shown = '';
  terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown += text;
    if (shown.endsWith(': ')) terminal.stdin.write('secret\r');
  });

  const code = await new Promise((resolve) => terminal.on('close', resolve));

  expect(shown).toContain(`Password of ${daemon.url}: `);
  expect(shown).not.toContain('secret');
  expect({ code, shown }).toMatchObject({
    code: 0,
    shown: expect.stringContaining('logged in') as string,
  });
});

test('who follows a task while the log-in ends is told how to go on', async () => {
  const on = await startClientTest({ ...WITH_PASSWORD, packages: [slowPackage(5)] });
  await setPassword(on);
  const { start, socketUrl, env, daemon } = on;
  await runCommand([process.execPath, DEPOTCTL, '--url', socketUrl, 'login'], {
    env,
    input: 'secret\n',
  });
  const install = start('install', 'slow');
  await install.printed('slow: postinst begin');

  await daemon.restart();

  const { code, stderr } = await install.outcome;
  expect(code).toBe(1);
  expect(stderr).toMatch(
    /the task goes on; to go on watching when you are logged in: depotctl --url \S+ log -f \w{8}\n/,
  );
  expect(stderr).toContain(`log in with: depotctl --url ${socketUrl} login`);
});

describe('where the panel logs people in', () => {
  let panel: Panel;
  const ofPanel = shareClientTest(async () => {
    panel = await createPanel();
    return { daemon: { set: ['main.auth=panel'], env: panel.env } };
  });
  afterAll(() => panel.close());

  test('login takes its users and passwords', async () => {
    const { depotctl, withInput, daemon } = ofPanel();

    expect(await depotctl('list')).toEqual({
      code: 1,
      stdout: '',
      stderr: `depotctl: cannot answer without a log-in\ndepotctl: log in with: depotctl --url ${daemon.url} login\n`,
    });
    expect(await withInput('wrong\n', 'login')).toMatchObject({
      code: 1,
      stderr: 'depotctl: cannot log in: the user name or the password is wrong\n',
    });
    expect((await depotctl('login')).stderr).toContain(
      'cannot log in: standard input has no password',
    );
    expect((await withInput('labpass\n', 'login')).code).toBe(0);
    expect((await depotctl('install', 'demo')).code).toBe(0);
    expect((await withInput('reads only 1\n', 'login', '--user', 'reader')).code).toBe(0);
    expect((await depotctl('list')).stdout).toContain('demo');
    expect((await depotctl('remove', 'demo')).stderr).toContain('"reader", who may only read');
    expect((await depotctl('logout')).code).toBe(0);
    expect((await depotctl('list')).code).toBe(1);
  });

  test('its session is taken from the option or the variable', async () => {
    const { depotctl, daemon, env } = ofPanel();
    const { id } = await panel.logIn();

    expect((await depotctl('--session', '0'.repeat(32), 'list')).stderr).toContain(
      'the session that was given is not valid or has ended',
    );
    expect((await depotctl('--session', id, 'install', 'demo')).code).toBe(0);
    const fromVariable = await runCommand(
      [process.execPath, DEPOTCTL, '--url', daemon.url, 'list'],
      {
        env: { ...env, DEPOTCTL_SESSION: id },
      },
    );
    expect(fromVariable.stdout).toContain('demo');
  });

  test('at a terminal the user is asked for, and shown, before the password, which is not', async () => {
    const { daemon, env } = ofPanel();
    const terminal = spawn(
      'script',
      ['-qec', `${process.execPath} ${DEPOTCTL} --url ${daemon.url} login`, '/dev/null'],
      { env: { ...env, TERM: 'xterm' }, stdio: ['pipe', 'pipe', 'inherit'] },
    );
    let shown = '';
    const answers = new Map([
      ['User (root): ', 'reader\r'],
      [`Password of reader at ${daemon.url}: `, 'reads only 1\r'],
    ]);
    terminal.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
      for (const [prompt, answer] of answers) {
        if (!shown.includes(prompt)) continue;
        answers.delete(prompt);
        terminal.stdin.write(answer);
      }
    });

    const code = await new Promise((resolve) => terminal.on('close', resolve));

    expect([code, shown.includes('reads only 1'), shown.includes('logged in')]).toEqual([
      0,
      false,
      true,
    ]);
  });
});

test('where nobody logs in, login says so', async () => {
  const { withInput } = await startClientTest();

  expect(await withInput('secret\n', 'login')).toEqual({
    code: 1,
    stdout: '',
    stderr: 'depotctl: cannot log in or out here: main.auth is none\n',
  });
});
