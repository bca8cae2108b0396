import { expect, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { createStage, type Stage } from './stage.ts';

const WATCHER = '#!/bin/sh\necho "$0 $1" >>"${0%/*}/called"\nrm -f "${0%/*}/pending"\n';

test.each([
  ['no configuration', '', 'etc/depotd'],
  [
    'a state folder in apostrophes',
    "config depotd 'main'\n\toption state_dir 'ROOT/mnt/my state'\n",
    'mnt/my state',
  ],
  [
    'a state folder in quotes',
    'config depotd main\n\toption "state_dir" "ROOT/mnt/state" # mine\n',
    'mnt/state',
  ],
  [
    'a bare state folder',
    'config depotd main\n option state_dir ROOT/mnt/state # mine\n',
    'mnt/state',
  ],
  [
    'a root of its own',
    "config depotd 'main'\n\toption root 'ROOT/device'\n\toption state_dir '/var/state'\n",
    'device/var/state',
  ],
])('with %s, the upgrade that was cut off is taken up', async (_what, text, folder) => {
  const stage = await stageUpgrade(folder, text);

  expect(await runCommand([`${stage.root}/usr/lib/depotd/resume-self-upgrade`])).toMatchObject({
    code: 0,
    stdout: '',
  });

  expect(await stage.read(`${folder}/self-upgrade/called`)).toBe(
    `${stage.root}/${folder}/self-upgrade/watch.sh boot\n`,
  );
});

test('without an upgrade that is pending, nothing is called', async () => {
  const stage = await stageUpgrade('etc/depotd', '');
  const program = `${stage.root}/usr/lib/depotd/resume-self-upgrade`;
  await runCommand([program]);
  await runCommand([program]);
  expect((await stage.read('etc/depotd/self-upgrade/called')).split('\n')).toHaveLength(2);
});

test('as the hook at boot it holds nobody up, does the same and goes away', async () => {
  const stage = await stageUpgrade('etc/depotd', '');
  const hook = await stage.lay('init/resume-self-upgrade', 'etc/rc.d/S96depotd-upgrade');

  expect(await runCommand([hook, 'boot'])).toMatchObject({ code: 0, stdout: '', stderr: '' });

  await expect
    .poll(() => stage.read('etc/rc.d/S96depotd-upgrade').catch(() => 'gone'))
    .toBe('gone');
  expect(await stage.read('etc/depotd/self-upgrade/called')).toContain('watch.sh boot');
});

/** A device on which an upgrade is pending. */
async function stageUpgrade(folder: string, config: string): Promise<Stage> {
  const stage = await createStage();
  await stage.lay('init/resume-self-upgrade', 'usr/lib/depotd/resume-self-upgrade');
  const text = config.replaceAll('ROOT', stage.root);
  // Without a configuration the default is the device's own folder, which lies below the stage as
  // the script's paths do.
  await stage.write('etc/config/depotd', text);
  await stage.write(`${folder}/self-upgrade/watch.sh`, WATCHER);
  await stage.write(`${folder}/self-upgrade/pending`, '');
  return stage;
}
