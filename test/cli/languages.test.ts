import { expect, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { DEPOTCTL, startClientTest } from './start-depotctl.ts';

test.each([
  [{ LANG: 'zh_CN.UTF-8' }, '找不到名为 absent 的软件源'],
  [{ LANG: 'en_GB.UTF-8', LC_ALL: 'zh_TW.UTF-8' }, '找不到名為 absent 的套件來源'],
  [{ LANG: 'de_DE.UTF-8' }, 'cannot find a feed named absent'],
  [{ LANG: '' }, 'cannot find a feed named absent'],
])('with %j what the daemon refuses is said in that language', async (locale, sentence) => {
  const on = await startClientTest();
  const words: [string, ...string[]] = [
    process.execPath,
    DEPOTCTL,
    '--url',
    on.daemon.url,
    'feeds',
    'remove',
    'absent',
  ];

  const { code, stderr } = await runCommand(words, { env: { ...on.env, ...locale } });

  expect([code, stderr]).toEqual([1, expect.stringContaining(sentence)]);
});
