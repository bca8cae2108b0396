import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

import type { Device } from '../../device/device.ts';

const run = promisify(execFile);
export const SCRIPT = 'etc/rc.d/S95depotd-restore';

/** Another firmware: what sysupgrade keeps is there, and nothing else of what was. */
export interface Upgraded {
  readonly root: string;
  readonly read: (path: string) => Promise<string | undefined>;
  /** Runs the script as a boot does, until it has ended. */
  readonly boot: () => Promise<void>;
  readonly calls: () => Promise<string>;
}

export const STANDIN = `#!/bin/sh
echo "$(basename "$0") $*" >>"$LOG"
`;

/** Its `sleep` moves the clock: the network is there after so many of them. */
export async function upgrade(
  device: Pick<Device, 'root'>,
  manager: 'opkg' | 'apk',
  sleeps: number,
): Promise<Upgraded> {
  const root = await mkdtemp(join(tmpdir(), 'depotd-upgraded-'));
  const [log, bin] = [join(root, 'calls'), join(root, 'bin-of-test')];
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
  };
  await run('cp', ['-a', join(device.root, 'etc/depotd'), join(root, 'etc-depotd')]);
  await mkdir(join(root, 'etc/rc.d'), { recursive: true });
  await run('mv', [join(root, 'etc-depotd'), join(root, 'etc/depotd')]);
  await run('cp', ['-a', join(device.root, SCRIPT), join(root, SCRIPT)]);
  for (const folder of ['tmp', 'mnt', 'media', 'lib/upgrade/keep.d', 'usr/sbin', 'etc/init.d']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await symlink('tmp', join(root, 'var'));
  await put('etc/openwrt_release', "DISTRIB_RELEASE='25.12.1'\n");
  await put('etc/banner', ' OpenWrt\n');
  await mkdir(join(root, 'www/luci-static/resources/view/status/include'), { recursive: true });
  if (manager === 'apk') {
    await put(
      'lib/apk/db/installed',
      'P:base-files\nV:1\np:/bin/sh virtual=1\n\nP:busybox\nV:1\n\n',
    );
    await put('etc/apk/world', 'base-files\nbusybox\ndemo><Q1abc\ngone\nvirtual\n!bad\n');
    await put('rom/etc/apk/world', 'base-files\nbusybox\nnew-one\n');
  } else {
    await put('etc/opkg/customfeeds.conf', '# yours\n');
  }
  // It installs depotd once as many sleeps have gone by.
  const installed = `mkdir -p "$DEPOTD_ROOT/usr/sbin"
printf '#!/bin/sh\\n' >"$DEPOTD_ROOT/usr/sbin/depotd"; chmod 755 "$DEPOTD_ROOT/usr/sbin/depotd"
printf '#!/bin/sh\\necho "init $*" >>"$LOG"\\n' >"$DEPOTD_ROOT/etc/init.d/depotd"; chmod 755 "$DEPOTD_ROOT/etc/init.d/depotd"`;
  // Scripts of packages may read what is there to be read.
  const program = `${STANDIN}cat >/dev/null
[ "$(grep -c '^sleep' "$LOG")" -ge ${sleeps} ] || exit 4
case "$*" in *install*depotd*|*add*depotd*) ${installed} ;; esac
`;
  await put(`bin-of-test/${manager}`, program);
  await put('bin-of-test/sleep', STANDIN);
  await put('bin-of-test/logger', STANDIN);
  const environment = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, DEPOTD_ROOT: root, LOG: log };
  await writeFile(log, '');
  return {
    root,
    read: (path) => readFile(join(root, path), 'utf8').catch(() => undefined),
    boot: async () => {
      // One that gives up nothing would go on for ever.
      const limits = { timeout: 100_000, killSignal: 'SIGKILL' } as const;
      await run('sh', [join(root, SCRIPT), 'run'], { env: environment, ...limits });
    },
    calls: () => readFile(log, 'utf8'),
  };
}
