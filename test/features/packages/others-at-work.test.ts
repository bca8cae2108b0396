import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { startLockHolder } from '../../device/lock-holder.ts';
import {
  createUploadDevice,
  exists,
  runFile,
  type UploadDevice,
} from '../uploads/upload-device.ts';

let on: UploadDevice;

beforeEach(async () => {
  on = await createUploadDevice();
});

afterEach(() => on.close());

test('the repair of a failed job leaves alone what somebody else is unpacking, until they are done', async () => {
  const { root } = on.device;
  const submitted = (await (
    await on.send([
      runFile(`echo >${root}/tmp/begun; until [ -e ${root}/tmp/go ]; do sleep 0.05; done; exit 1`),
    ])
  ).json()) as { task_id: string };
  await expect.poll(() => exists(join(root, 'tmp/begun'))).toBe(true);
  const other = await startLockHolder(on.device);
  await writeFile(join(root, 'usr/bin/theirs'), '');
  await writeFile(join(root, 'usr/lib/opkg/info/theirs.list'), '/usr/bin/theirs\n');

  await writeFile(join(root, 'tmp/go'), '');

  await expect
    .poll(() => on.daemon.logOf(submitted.task_id))
    .toContain(`waiting: process ${other.pid} holds`);
  expect(await exists(join(root, 'usr/bin/theirs'))).toBe(true);
  await writeFile(
    join(root, 'usr/lib/opkg/status'),
    `${(await on.device.read('usr/lib/opkg/status')) ?? ''}Package: theirs\nVersion: 1\nStatus: install user installed\nArchitecture: all\n\n`,
  );
  await other.release();
  await on.daemon.finished(submitted.task_id);
  expect(await exists(join(root, 'usr/lib/opkg/info/theirs.list'))).toBe(true);
});

test.each(['remove', 'configure'])(
  'the repair of a failed job waits when somebody else begins just before its opkg %s, and does all of it then',
  async (verb) => {
    const folder = await mkdtemp(join(tmpdir(), 'depotd-overtaken-'));
    const overtaken = await createUploadDevice({ opkg: await overtakenOpkg(folder, verb) });
    try {
      const { root } = overtaken.device;
      await overtaken.device.opkg('install', 'tiny-01');
      const status = join(root, 'usr/lib/opkg/status');
      await writeFile(join(folder, 'lock'), join(root, 'var/lock/opkg.lock'));

      const { state } = await overtaken.install(
        runFile(`opkg -o ${root} --force-postinstall install virt
sed -i '/^Package: tiny-01$/,/^$/s/ installed$/ unpacked/' ${status}
exit 1`),
      );

      expect(state).toBe('failed');
      await expect(rm(join(folder, 'lock'))).rejects.toThrow('ENOENT');
      const database = await overtaken.device.database();
      expect(database.get('virt')?.state ?? 'not-installed').toBe('not-installed');
      expect(database.get('tiny-01')?.state).toBe('installed');
    } finally {
      await overtaken.close();
      await rm(folder, { recursive: true });
    }
  },
);

/** An opkg at whose first call with the verb somebody else has its lock, named in a file. */
async function overtakenOpkg(folder: string, verb: string): Promise<string> {
  const program = join(folder, 'opkg');
  const device = join(import.meta.dirname, '../../device');
  const opkg = process.env.OPKG ?? join(device, 'bin/opkg');
  const hold = 'use opkg::lock; my $lock = take_lock(shift) or die; system(@ARGV); exit $? >> 8';
  await writeFile(
    program,
    `#!/bin/sh
case " $* " in
*' ${verb} '*)
	if lock=$(cat '${folder}/lock' 2>/dev/null); then
		rm '${folder}/lock'
		exec perl -I'${device}' -e '${hold}' "$lock" '${opkg}' "$@"
	fi ;;
esac
exec '${opkg}' "$@"
`,
    { mode: 0o755 },
  );
  return program;
}

test.each([
  ['is killed', 'kill -9 $$'],
  ['is ended', 'kill -15 $$'],
  ['cannot write', 'exit 255'],
])(
  'the repair of a failed job removes what came with it also if its opkg %s once',
  async (_, ends) => {
    const folder = await mkdtemp(join(tmpdir(), 'depotd-killed-'));
    const opkg = join(folder, 'opkg');
    const real = process.env.OPKG ?? join(import.meta.dirname, '../../device/bin/opkg');
    await writeFile(
      opkg,
      `#!/bin/sh
case " $* " in
*' remove '*) if rm '${folder}/armed' 2>/dev/null; then rm "$(cat '${folder}/file')"; ${ends}; fi ;;
esac
exec '${real}' "$@"
`,
      { mode: 0o755 },
    );
    const killed = await createUploadDevice({ opkg });
    try {
      const { root } = killed.device;
      await writeFile(join(folder, 'file'), join(root, 'usr/bin/virt'));
      await writeFile(join(folder, 'armed'), '');

      const { state } = await killed.install(
        runFile(`opkg -o ${root} --force-postinstall install virt; exit 1`),
      );

      expect(state).toBe('failed');
      expect(await exists(join(folder, 'armed'))).toBe(false);
      const database = await killed.device.database();
      expect(database.get('virt')?.state ?? 'not-installed').toBe('not-installed');
    } finally {
      await killed.close();
      await rm(folder, { recursive: true });
    }
  },
);

test('what is installed by its name is asked for, though somebody else begins behind its opkg', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-behind-'));
  const opkg = join(folder, 'opkg');
  const real = process.env.OPKG ?? join(import.meta.dirname, '../../device/bin/opkg');
  const waits = `if rm '${folder}/armed'; then until [ -e '${folder}/go' ]; do sleep 0.05; done; fi`;
  const program = `#!/bin/sh\n'${real}' "$@"\ncode=$?\n${waits} 2>/dev/null\nexit $code\n`;
  await writeFile(opkg, program, { mode: 0o755 });
  const behind = await createUploadDevice({ opkg });
  try {
    const { device, daemon } = behind;
    const status = join(device.root, 'usr/lib/opkg/status');
    await daemon.finished(await daemon.submit('install', { package: 'demo-app' }));
    await writeFile(join(folder, 'armed'), '');
    const task = await daemon.submit('install', { package: 'libdemo' });
    await expect.poll(() => exists(join(folder, 'armed'))).toBe(false);
    const other = await startLockHolder(device);
    const read = (await device.read('usr/lib/opkg/status')) ?? '';

    await writeFile(join(folder, 'go'), '');
    await delay(1000);
    await writeFile(status, read);
    await other.release();

    expect((await daemon.finished(task)).state).toBe('done');
    expect((await device.database()).get('libdemo')).toMatchObject({ isAutoInstalled: false });
  } finally {
    await behind.close();
    await rm(folder, { recursive: true });
  }
});
