import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { runCommand, type Outcome } from '../device/command.ts';
import { createStage, type Stage } from './stage.ts';

const SERVICE = [
  'instance',
  '  command ROOT/usr/sbin/depotd',
  '  env DEPOTD_SERVICE=procd',
  '  respawn 300 2 5',
  '  term_timeout 10',
  '  stdout 1',
  '  stderr 1',
  '  pidfile ROOT/var/run/depotd.pid',
  'end',
];
const TRIGGERS = ['reload when depotd changes', 'on interface.*.up 2000 /etc/init.d/depotd start'];

test('start hands procd one instance that is brought back, but not for ever, and logs what it says', async () => {
  const on = await stageScript();
  expect(await on.run('start')).toMatchObject({ code: 0, stderr: '' });
  expect(await on.calls()).toEqual([...SERVICE, ...TRIGGERS]);
});

test('a daemon that procd has given up begins afresh with the next start', async () => {
  const on = await stageScript();
  await on.run('start', { STATE: 'false' });
  expect((await on.calls())[0]).toBe('ubus call service delete { "name": "depotd" }');
  expect(await on.calls()).toContain('instance');
});

test('nobody starts a daemon again that was idle and is then stopped by its owner', async () => {
  const on = await stageScript();
  for (const name of ['asleep', 'waking']) await on.stage.write(`var/run/depotd/${name}`, '');
  await on.run('stop');
  expect(await readdir(join(on.stage.root, 'var/run/depotd'))).toEqual([]);
});

test('reload has the daemon that runs read its configuration, and starts one that does not', async () => {
  const on = await stageScript();
  await on.stage.write('var/run/depotd.pid', '4711\n');
  await on.run('reload', { IS_RUNNING: '1' });
  expect(await on.calls()).toEqual(['reload 4711']);

  const ended = await stageScript();
  await ended.run('reload', { IS_RUNNING: '0' });
  expect(await ended.calls()).toEqual([...SERVICE, ...TRIGGERS]);
});

test('a boot starts the daemon and takes up an upgrade that was cut off, once', async () => {
  const on = await stageScript();
  await on.run('boot');
  await expect.poll(on.calls).toContain('resume-self-upgrade');

  const hooked = await stageScript();
  await hooked.stage.write('etc/rc.d/S96depotd-upgrade', '');
  await hooked.run('boot');
  expect(await hooked.calls()).toEqual([...SERVICE, ...TRIGGERS]);
});

interface Script {
  stage: Stage;
  run: (action: string, env?: Record<string, string>) => Promise<Outcome>;
  /** What was asked of procd and called, in order. */
  calls: () => Promise<string[]>;
}

async function stageScript(): Promise<Script> {
  const stage = await createStage();
  const script = await stage.lay('init/depotd.init', 'etc/init.d/depotd');
  const CALLS = await stage.write('calls', '');
  for (const name of ['reload', 'resume-self-upgrade']) {
    await stage.write(
      `usr/lib/depotd/${name}`,
      `#!/bin/sh\necho "${name}\${1:+ $1}" >>"$CALLS"\n`,
      0o755,
    );
  }
  await stage.write('bin/ubus', '#!/bin/sh\n[ "$3" = list ] || echo "ubus $*" >>"$CALLS"\n', 0o755);
  await stage.write('bin/jsonfilter', '#!/bin/sh\necho "$STATE"\n', 0o755);
  const PATH = `${join(stage.root, 'bin')}:${process.env.PATH ?? ''}`;
  return {
    stage,
    run: (action, env = {}) =>
      runCommand(['busybox', 'ash', join(import.meta.dirname, 'rc.common'), script, action], {
        env: { ...process.env, PATH, CALLS, ...env },
      }),
    calls: async () =>
      (await stage.read('calls'))
        .split('\n')
        .slice(0, -1)
        .map((line) => line.trimEnd().replaceAll(stage.root, 'ROOT')),
  };
}
