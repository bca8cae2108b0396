import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { runCommand } from '../device/command.ts';
import { createStage } from '../init/stage.ts';
import { REPOSITORY } from '../source-tree.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const SCRIPT = join(REPOSITORY, 'packaging/uhttpd/uhttpd-handler');
/** The real one if UCI names it. */
const UCI = process.env.UCI ?? join(REPOSITORY, 'test/device/bin-uci/uci');
const LUCI = '/cgi-bin/luci=/usr/share/ucode/luci/uhttpd.uc';
const OURS = '/cgi-bin/panel=/usr/share/ucode/depotd/uhttpd.uc';

const ISTORE = ['store', 'system/tasks'].map(
  (path) => `/cgi-bin/luci/admin/${path}=/usr/share/ucode/depotd/istore.uc`,
);
const SWITCHED = "config depotd 'main'\n\toption istore_paths '1'\n";

const PLUGIN = { 'usr/lib/uhttpd_ucode.so': '' };
const section = (...lines: string[]): string =>
  ["config uhttpd 'main'", ...lines.map((line) => `\t${line}`), ''].join('\n');
const PLAIN = section(`list ucode_prefix '${LUCI}'`);
const WITH_BOTH = section(`list ucode_prefix '${LUCI}'`, `list ucode_prefix '${OURS}'`);
const PASSWORD = section(`list ucode_prefix '${LUCI}'`, "list httpauth '/:root:$p$root'");
const OWN_FILE = section("option config '/etc/own.conf'");

interface Case {
  what: string;
  action: 'add' | 'remove';
  config: string;
  files: Record<string, string>;
  handlers: string[];
}

const CASES: Case[] = [
  {
    what: 'the handler is added beside those of others',
    action: 'add',
    config: PLAIN,
    files: PLUGIN,
    handlers: [LUCI, OURS],
  },
  {
    what: "the calls of iStore's page are handed on if the owner says so",
    action: 'add',
    config: WITH_BOTH,
    files: { ...PLUGIN, 'etc/config/depotd': SWITCHED },
    handlers: [LUCI, OURS, ...ISTORE],
  },
  {
    what: "the calls of iStore's page are LuCI's again once that is switched off",
    action: 'add',
    config: section(...[...ISTORE, LUCI, OURS].map((handler) => `list ucode_prefix '${handler}'`)),
    files: PLUGIN,
    handlers: [LUCI, OURS],
  },
  {
    what: 'all of them go with the package',
    action: 'remove',
    config: section(...[...ISTORE, LUCI, OURS].map((handler) => `list ucode_prefix '${handler}'`)),
    files: { 'etc/config/depotd': SWITCHED },
    handlers: [LUCI],
  },
  {
    what: 'it is added once',
    action: 'add',
    config: WITH_BOTH,
    files: PLUGIN,
    handlers: [LUCI, OURS],
  },
  {
    what: 'without uhttpd-mod-ucode nothing is added',
    action: 'add',
    config: PLAIN,
    files: {},
    handlers: [LUCI],
  },
  {
    what: 'without uhttpd nothing is added',
    action: 'add',
    config: '',
    files: PLUGIN,
    handlers: [],
  },
  {
    what: 'passwords that uhttpd asks for keep the CGI program',
    action: 'add',
    config: PASSWORD,
    files: PLUGIN,
    handlers: [LUCI],
  },
  {
    what: 'passwords that came later bring the CGI program back',
    action: 'add',
    config: section(
      ...[...ISTORE, LUCI, OURS].map((handler) => `list ucode_prefix '${handler}'`),
      "list httpauth '/:root:$p$root'",
    ),
    files: { ...PLUGIN, 'etc/config/depotd': SWITCHED },
    handlers: [LUCI],
  },
  {
    what: 'passwords in httpd.conf keep the CGI program',
    action: 'add',
    config: PLAIN,
    files: { ...PLUGIN, 'etc/httpd.conf': '/:root:$p$root' },
    handlers: [LUCI],
  },
  {
    what: 'a configuration of its own keeps the CGI program',
    action: 'add',
    config: OWN_FILE,
    files: PLUGIN,
    handlers: [],
  },
  {
    what: "the handler is removed, and nobody else's",
    action: 'remove',
    config: WITH_BOTH,
    files: {},
    handlers: [LUCI],
  },
  {
    what: 'a handler that is not there is not removed',
    action: 'remove',
    config: PLAIN,
    files: PLUGIN,
    handlers: [LUCI],
  },
];

test.each(CASES.map((each) => [each.what, each] as const))('%s', async (_what, each) => {
  const { action, config, files, handlers } = each;
  const root = await createRoot({ ...files, 'etc/config/uhttpd': config });

  const outcome = await runCommand(['/bin/sh', SCRIPT, action], {
    env: { IPKG_INSTROOT: root, UCI },
  });

  expect(outcome).toMatchObject({ code: 0, stdout: '', stderr: '' });
  const get = ['-q', '-c', join(root, 'etc/config'), 'get', 'uhttpd.main.ucode_prefix'];
  const { stdout } = await runCommand([UCI, ...get]);
  expect(stdout.split(/\s+/).filter(Boolean).sort()).toEqual(handlers.sort());
});

async function createRoot(files: Record<string, string>): Promise<string> {
  const root = await temporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  return root;
}

test.each(['busybox ash', 'dash'])(
  'a reload holds nothing of the output that its caller waits for the end of (%s)',
  async (shell) => {
    const folder = await temporaryFolder();
    const text = await readFile(SCRIPT, 'utf8');
    await writeFile(join(folder, 'handler'), text.replace(/^PATH=/m, `PATH=${folder}:`));
    // A package manager runs until this test has seen the end of the output.
    const pidof = `#!/bin/sh\n[ "$1" = opkg ] && [ ! -e '${folder}/seen' ]\n`;
    await writeFile(join(folder, 'pidof'), pidof, { mode: 0o755 });
    const words = `timeout 60 ${shell} ${join(folder, 'handler')} reload`.split(' ');

    const ended = runCommand(words as [string, ...string[]]).then(() => 'the output has ended');
    const late = new Promise((resolve) => setTimeout(resolve, 50_000, 'it is held open'));
    const first = await Promise.race([ended, late]);
    await writeFile(join(folder, 'seen'), '');
    await ended;

    expect(first).toBe('the output has ended');
  },
);

test('an old version that is put back, whose first configuration has run long ago, is handed on to again', async () => {
  const stage = await createStage();
  const postinst = await stage.lay('packaging/openwrt/postinst-pkg', 'postinst-pkg');
  await stage.write('bin/killall', '#!/bin/sh\n', 0o755);
  const calls = join(stage.root, 'calls');
  await stage.write('usr/lib/depotd/uhttpd-handler', `#!/bin/sh\necho "$1" >>'${calls}'\n`, 0o755);

  await runCommand(['/bin/sh', '-c', `. ${postinst}`], {
    env: { PATH: `${stage.root}/bin:/usr/bin:/bin` },
  });

  expect((await stage.read('calls')).split('\n')).toEqual(['add', 'reload', '']);
});
