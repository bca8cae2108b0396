import { rm } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { commandHelp } from '../../src/cli/usage/help.ts';
import { widthOf } from '../../src/cli/terminal/width.ts';
import { COMMAND_NAMES } from '../../src/cli/usage/commands.ts';
import { LANGUAGES, voiceOf } from '../../src/languages/languages.ts';
import { runCommand } from '../device/command.ts';
import { slowPackage } from '../device/packages/awkward-packages.ts';
import { simplePackage } from '../device/packages/package-parts.ts';
import { storeApps } from '../device/packages/store-apps.ts';
import { DEPOTCTL, runEach, shareClientTest, startClientTest } from './start-depotctl.ts';

const client = shareClientTest();

test.each([
  [{ LANG: 'zh_CN.UTF-8' }, '找不到名为 absent 的软件源'],
  [{ LANG: 'en_GB.UTF-8', LC_ALL: 'zh_TW.UTF-8' }, '找不到名為 absent 的套件來源'],
  [{ LANG: 'de_DE.UTF-8' }, 'cannot find a feed named absent'],
  [{ LANG: '' }, 'cannot find a feed named absent'],
])('with %j what the daemon refuses is said in that language', async (locale, sentence) => {
  const { daemon, env } = client();
  const words = ['--url', daemon.url, 'feeds', 'remove', 'absent'];

  const { code, stderr } = await runCommand([process.execPath, DEPOTCTL, ...words], {
    env: { ...env, ...locale },
  });

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
        .filter((line) => !/^ {2}(?:depotctl|source) |\uff1adepotctl /.test(line));
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
      cwd: on.device.root,
    });

  expect((await run('list')).stderr).toContain(none);
  expect((await run('install', '--yes', 'demo')).stderr).toContain(done);
  const { stdout } = await run('list', '--all');
  expect(stdout).toContain(heading);
  expect(stdout).toContain('demo');
  expect((await run('stop', 'latest')).stderr).toMatch(new RegExp(`\uff1a${done}\n`));
  await run('backup', 'b.tar.gz');
  await run('remove', '--yes', 'demo');
  await rm(join(on.device.root, 'var/opkg-lists/lab'));
  expect((await run('restore', 'b.tar.gz', '--dry-run')).stdout).toMatch(
    / (?:软件源|套件來源)提供/,
  );
});

test.each(LANGUAGES.map(({ code }) => code))(
  'in %s each field that the description of an app may have is named',
  (code) => {
    const fields = [
      ...['name', 'title', 'entry', 'author', 'website', 'tutorial', 'description', 'version'],
      ...['description_en', 'release', 'arch', 'tags', 'depends', 'flags', 'autoconf', 'broken'],
      ...['uci', 'time', 'installed'],
    ];
    const { word } = voiceOf(code);
    expect(fields.filter((field) => word(field) === field)).toEqual([]);
  },
);

test.each([
  ['en_GB.UTF-8', 'Keeps advertising and trackers away from every device at home.'],
  ['zh_CN.UTF-8', '为家中所有设备屏蔽广告和跟踪器。'],
])('with %s an installed app is described in that language', async (LANG, description) => {
  const on = await startClientTest({ packages: storeApps(), hasUsual: false });
  await on.daemon.finished(await on.daemon.submit('install', { package: 'adfilter' }));

  for (const words of [
    ['search', 'adfilter'],
    ['list', '--all'],
    ['info', 'adfilter'],
  ]) {
    const { stdout } = await runCommand(
      [process.execPath, DEPOTCTL, '--url', on.socketUrl, ...words],
      {
        env: { ...on.env, LANG, LC_ALL: '' },
      },
    );
    expect(stdout).toContain(description);
  }
});

/** What programs and packages say, what is typed, and the names of the test's device. */
const OF_OTHERS =
  /^(?:depotd|opkg|badpost|demo-app|autoconf|Collected)\b.*|^ \*.*|`[^`]*`|"[^"]*"|depotctl(?: --url \S+)?(?: [a-z-]+)+|\b\S+ test package|(?:Installing|Removing|Downloading|Configuring|Updated|Unknown|Upgrading) .*|opkg \w+(?: [a-z-]+)*|demo for tests/g;

/** By the command, the lines that still have English words in a row. */
async function englishOf(
  locale: string,
  commands: readonly (readonly string[])[],
): Promise<Record<string, string[]>> {
  const on = await startClientTest();
  const outcomes = await runEach(
    commands.map((words) => ['--url', on.daemon.url, ...words]),
    { env: { ...on.env, LANG: locale, LC_ALL: '' }, cwd: on.device.root },
  );
  const found: Record<string, string[]> = {};
  for (const [index, { stdout, stderr }] of outcomes.entries()) {
    const english = `${stdout}\n${stderr}`
      .split('\n')
      .filter((line) => /\b[a-z]{2,} [a-z]{2,}/i.test(line.replace(OF_OTHERS, '')));
    if (english.length > 0) found[commands[index]?.join(' ') ?? ''] = english;
  }
  return found;
}

test('in Chinese the sums of a plan fit the columns of the terminal', async () => {
  const { daemon, env } = client();
  const plan = async (columns: number): Promise<string[]> => {
    const command = `${process.execPath} ${DEPOTCTL} --url ${daemon.url} plan install demo`;
    const shown = await runCommand(
      ['script', '-qec', `stty cols ${columns}; ${command}`, '/dev/null'],
      { env: { ...env, LANG: 'zh_CN.UTF-8', LC_ALL: '', TERM: 'xterm', NO_COLOR: '1' } },
    );
    return shown.stdout.trimEnd().split(/\r?\n/);
  };

  // Its characters are fewer than its columns.
  const columns = (await plan(200)).at(-1)?.length ?? 0;

  expect((await plan(columns + 4)).filter((line) => widthOf(line) > columns + 4)).toEqual([]);
});

test('in Chinese the sums of a plan are said each by itself, and stops are those of Chinese', async () => {
  const { daemon, env } = await startClientTest({
    packages: [simplePackage('huge', { installedSizeBytes: 10 ** 15 })],
  });
  const run = async (...words: string[]): Promise<string> => {
    const { stdout, stderr } = await runCommand(
      [process.execPath, DEPOTCTL, '--url', daemon.url, ...words],
      { env: { ...env, LANG: 'zh_CN.UTF-8', LC_ALL: '' } },
    );
    return stdout + stderr;
  };

  const size = '[0-9.]+ [A-Z][A-Za-z]*';
  expect(await run('plan', 'install', 'huge')).toMatch(
    new RegExp(`\n需下载：${size}；占用磁盘：\\+909 TiB；可用：${size}，还缺 ${size}\n`),
  );
  expect(await run('install', '-y', 'badpost')).toMatch(/（失败，用时 \d+ s）\n/);
  expect(await run('update')).toMatch(/：已完成，用时 \d+ s\n/);
  expect(await run('help', 'install')).toMatch(/^用法：depotctl [^]*\n例如：\n/);
});

test('in Chinese what a task waits for and what it is at is said in Chinese', async () => {
  const { daemon, env } = await startClientTest({ packages: [slowPackage(2)] });
  await daemon.submit('install', { package: 'slow' });
  const command = `${process.execPath} ${DEPOTCTL} --url ${daemon.url} install -y demo`;

  const { stdout } = await runCommand(
    ['script', '-qec', `stty cols 200; ${command}`, '/dev/null'],
    { env: { ...env, LANG: 'zh_CN.UTF-8', LC_ALL: '', TERM: 'xterm', NO_COLOR: '1' } },
  );

  const shown = stdout.split(/[\r\n]+(?:\x1b\[K)?/);
  expect(shown).toContainEqual(expect.stringMatching(/^正在等待 [0-9a-f]{8}（opkg install slow）/));
  expect(shown).toContainEqual(expect.stringMatching(/^(?:\[.* %  )?安装$/));
});

test('in Chinese no command says a sentence of English', async () => {
  const typed = [
    'search zzzqq|info demo|info libdemo|info absent|plan install demo|plan remove libc',
    'plan install absent|install -y demo|install -y badpost|install -y absent|info demo',
    'status absent|list|hold demo|plan upgrade|feeds no-upgrades feed|feeds|feeds add x nothing',
    'feeds add x http://127.0.0.1:1/none|import istore|upload absent.ipk|uploads|jobs|stop latest',
    'undo --dry-run|confirm latest|backup --path /absent|backup b.tar.gz|restore b.tar.gz --dry-run',
    'install demo --path|install --path -y|list --json=1|list --nope|list -z',
    'fleet on|doctor|verify|device|migrate /absent|self-upgrade|passwd|upgrade -y|advisories absent',
  ];
  const commands = typed.join('|').split('|');
  expect(
    await englishOf(
      'zh_CN.UTF-8',
      commands.map((words) => words.split(' ')),
    ),
  ).toEqual({});
}, 180_000);
