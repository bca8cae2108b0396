import { expect, test } from 'vitest';

import { commandHelp } from '../../src/cli/usage/help.ts';
import { COMMAND_NAMES } from '../../src/cli/usage/commands.ts';
import { LANGUAGES, voiceOf } from '../../src/languages/languages.ts';
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

test.each(LANGUAGES.map(({ code }) => code))(
  'in %s no help of a command has a sentence of English',
  (code) => {
    const { word } = voiceOf(code);
    for (const name of COMMAND_NAMES) {
      const texts = commandHelp(name, { columns: 100, word })
        .split('\n')
        // What is typed stands as it is.
        .filter((line) => !/^ {2}(?:depotctl|source) |: depotctl /.test(line));
      const english = texts.filter((line) => /\b[a-z]{2,} [a-z]{2,} [a-z]{2,}\b/.test(line));
      expect([name, english]).toEqual([name, []]);
    }
  },
);

test.each([
  ['zh_CN.UTF-8', ['没有安装应用', '名称', '已完成']],
  ['zh_TW.UTF-8', ['沒有安裝應用', '名稱', '已完成']],
])('with %s tables and outcomes are in that language', async (LANG, [none, heading, done]) => {
  const on = await startClientTest();
  const run = (...words: string[]): Promise<{ stdout: string; stderr: string }> =>
    runCommand([process.execPath, DEPOTCTL, '--url', on.daemon.url, ...words], {
      env: { ...on.env, LANG, LC_ALL: '' },
    });

  expect((await run('list')).stderr).toContain(none);
  expect((await run('install', '--yes', 'demo')).stderr).toContain(done);
  const { stdout } = await run('list', '--all');
  expect(stdout).toContain(heading);
  expect(stdout).toContain('demo');
});
