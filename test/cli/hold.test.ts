import { expect, test } from 'vitest';

import { shareClientTest } from './start-depotctl.ts';

const client = shareClientTest();

test('hold keeps an app at its version, upgrade says so, and release lets it go', async () => {
  const { depotctl, device } = client();
  await depotctl('install', 'demo');
  const versionOf = async (): Promise<string | undefined> =>
    (await device.database()).get('demo-app')?.version;

  expect(await depotctl('hold', 'demo')).toEqual({
    ...{ code: 0, stdout: '', stderr: 'depotctl: demo is held\n' },
  });
  device.publish(2);
  await depotctl('update');
  const all = await depotctl('upgrade', '-y');
  const one = await depotctl('upgrade', 'demo', '-y');

  expect(all.code).toBe(0);
  expect(one.code).toBe(1);
  expect(one.stderr).toContain('Release demo');
  expect(await versionOf()).toBe('1.0-1');
  expect((await depotctl('plan', 'upgrade')).stderr).toMatch(/held at (its|their) version/);

  expect(await depotctl('release', 'demo', '--json')).toMatchObject({
    ...{ code: 0, stdout: '{"code":0}\n' },
  });
  expect((await depotctl('upgrade', 'demo', '-y')).code).toBe(0);
  expect(await versionOf()).toBe('1.1-1');
});

test('what is not installed is not held', async () => {
  const { depotctl } = client();

  const { code, stderr } = await depotctl('hold', 'absent');

  expect(code).toBe(1);
  expect(stderr).toContain('cannot hold absent: it is not installed');
});
