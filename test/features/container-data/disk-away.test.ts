import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { moveFolder } from '../../../src/features/container-data/target-layout.ts';
import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { createContainerData, type ContainerData } from '../../faults/container-data.ts';
import { canLoop, command } from '../../support/loop-disks.ts';

let folder: string;
let device: Device;
let data: ContainerData;
let daemon: TestDaemon;
const at = (path: string): string => join(folder, path);
/** On a disk of its own. */
const settings = (): string => join(device.root, 'etc/docker');
const config = (): string => join(settings(), 'daemon.json');

describe.skipIf(!(await canLoop(['mkfs.ext4', 'rsync', 'mount'])))(
  'a move that is undone while the engine’s configuration cannot be written',
  () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'depotd-away-'));
      device = await createDevice({ directory: at('device') });
      const created = await createContainerData(folder);
      if (created === undefined) throw new Error('cannot make disks');
      data = created;
      await mkdir(settings());
      daemon = await startDaemon(device, { set: data.set });
    });

    afterAll(async () => {
      await daemon.close();
      await data.close();
      await device.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    });

    beforeEach(async () => {
      await command('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'settings', settings()]);
      for (const path of ['once', 'mnt/two/filler']) await rm(at(path), { force: true });
      await data.restore(device.root);
    });

    afterEach(async () => {
      await command('umount', ['-l', config()]).catch(() => undefined);
      await command('umount', ['-l', settings()]);
    });

    test('waits for a disk that is read-only, says so, and leaves the engine where it was', async () => {
      await comeUpElsewhere(`mount -o remount,ro '${settings()}'`);
      const task = await move();
      await expect.poll(() => daemon.logOf(task), { timeout: 20_000 }).toContain(WAITING);
      expect(await daemon.status(task)).toMatchObject({ running: true });

      await command('mount', ['-o', 'remount,rw', settings()]);

      await expectUndone(task);
    });

    test('waits for room on a full disk', async () => {
      await comeUpElsewhere(`head -c 2000000 /dev/zero >'${settings()}/filler'`);
      const task = await move();
      await expect.poll(() => daemon.logOf(task), { timeout: 20_000 }).toContain(WAITING);

      await rm(join(settings(), 'filler'));

      await expectUndone(task);
    });

    test('waits for a configuration that somebody broke, and the doctor says so', expectMended);

    test('goes on waiting when the daemon is killed, however often', async () => {
      await comeUpElsewhere(`mount -o remount,ro '${settings()}'`);
      const task = await move();
      for (let kills = 0; kills < 4; kills += 1) {
        await expect
          .poll(async () => (await daemon.logOf(task)).split(WAITING).length, { timeout: 20_000 })
          .toBeGreaterThan(kills + 1);
        await daemon.kill('SIGKILL');
        await daemon.restart();
      }

      await command('mount', ['-o', 'remount,rw', settings()]);

      await expectUndone(task);
    });

    test('starts the engine before it waits for the target’s disk', async () => {
      await comeUpElsewhere(`mount -o remount,ro '${at('mnt/two')}'`);
      const task = await move();
      await expect.poll(() => daemon.logOf(task), { timeout: 20_000 }).toContain(WAITING);

      expect(await daemon.logOf(task)).toContain('as before');
      expect(await dataRoot()).toBe(at('mnt/one/docker'));
      await command('mount', ['-o', 'remount,rw', at('mnt/two')]);

      await expectUndone(task);
    });

    test('leaves the copy whole and the engine with it if the configuration stays as it is', async () => {
      // Nothing can be renamed onto a mount point.
      await comeUpElsewhere(`mount --bind '${config()}' '${config()}'`);

      const { state, error } = await daemon.finished(await move());

      expect({ state, error }).toEqual({
        state: 'failed',
        error: expect.stringContaining('; the repair failed: EBUSY') as string,
      });
      expect(await data.judge(device.root, true)).toEqual([]);
      expect(await dataRoot()).toBe(data.target);
    });

    test('is done, and not failed, if only the rest of the work had to wait', async () => {
      const logs = join(device.root, 'var/log/depotd');
      await comeUp(`mount --bind '${logs}' '${logs}'; mount -o remount,bind,ro '${logs}'`);
      const linesBefore = daemon.log.length;
      const task = await move();
      await expect
        .poll(() => daemon.log.slice(linesBefore).join(), { timeout: 20_000 })
        .toContain('repair waits for a disk');
      await command('umount', [logs]);

      expect(await daemon.finished(task)).toMatchObject({ state: 'done', exit_code: 0 });

      expect(await data.judge(device.root, true)).toEqual([]);
      expect(await dataRoot()).toBe(data.target);
      expect(await daemon.logOf(task)).toContain(
        `the old data is still in ${at('mnt/one/docker')}`,
      );
    });

    test('never removes what the target held, also if it cannot be put back and the disk is full', async () => {
      await mkdir(join(data.target, 'mine'), { recursive: true });
      const { aside, folder: inMove } = moveFolder(data.target);
      // Nothing can rename a mount point.
      await comeUpElsewhere(`mount --bind '${aside}' '${aside}'
head -c 30000000 /dev/zero >'${at('mnt/two/filler')}'`);

      const task = await daemon.submit('docker_migrate', { path: data.target, overwrite: 'true' });
      await daemon.finished(task);
      await command('umount', ['-l', aside]);

      expect(await readdir(aside)).toEqual(['mine']);
      expect(await daemon.logOf(task)).toContain(`what ${data.target} held is still in ${inMove}`);
    });
  },
);

/** The next stop of the engine comes with a configuration that is none, until it is mended. */
async function expectMended(): Promise<void> {
  await rename(at('engine'), at('engine-as-configured'));
  await writeFile(
    at('engine'),
    `[ "$1" = start ] || [ -e '${at('once')}' ] || { : >'${at('once')}'; echo '{' >'${config()}'; }
exec sh '${at('engine-as-configured')}' "$1"
`,
  );
  const task = await move();
  const broken = `cannot read ${config()}: `;
  await expect
    .poll(() => daemon.logOf(task), { timeout: 20_000 })
    .toContain(`depotd: waiting until that is mended: ${broken}`);
  const { checks } = (await (await daemon.get('admin/system/doctor')).json()) as {
    checks: { id: string }[];
  };
  expect(checks.find(({ id }) => id === 'container-engine')).toMatchObject({
    state: 'error',
    message: expect.stringContaining(`the container engine cannot start: ${broken}`) as string,
  });

  await writeFile(config(), JSON.stringify({ 'data-root': at('mnt/one/docker') }));

  expect(await daemon.finished(task)).toMatchObject({
    state: 'failed',
    error: expect.not.stringContaining('repair failed') as string,
    remedy: 'Mend what the message names, then start the task again.',
  });
  expect(await data.judge(device.root, false)).toEqual([]);
  expect(await dataRoot()).toBe(at('mnt/one/docker'));
}

const WAITING = 'depotd: waiting for the disk: ';

/** The first engine that is sent to the target works where it was before, and this runs first. */
async function comeUpElsewhere(script: string): Promise<void> {
  await comeUp(`${script}
exec sh '${at('engine-elsewhere')}' start`);
}

/** This runs before the first engine that is sent to the target. */
async function comeUp(script: string): Promise<void> {
  const text = await readFile(at('engine'), 'utf8');
  await rename(at('engine'), at('engine-as-configured'));
  await writeFile(at('engine-elsewhere'), text.replaceAll(config(), at('elsewhere.json')));
  await writeFile(at('elsewhere.json'), JSON.stringify({ 'data-root': at('mnt/one/docker') }));
  await writeFile(
    at('engine'),
    `if [ "$1" = start ] && [ ! -e '${at('once')}' ] && grep -q '${data.target}' '${config()}'; then
	: >'${at('once')}'
	${script}
fi
exec sh '${at('engine-as-configured')}' "$1"
`,
  );
}

/** Where the engine says that it works. */
async function dataRoot(): Promise<unknown> {
  const { stdout } = await command('curl', [
    ...['-s', '--unix-socket', at('engine.sock'), 'http://engine/info'],
  ]);
  return (JSON.parse(stdout) as { DockerRootDir: unknown }).DockerRootDir;
}

function move(): Promise<string> {
  return daemon.submit('docker_migrate', { path: data.target });
}

async function expectUndone(task: string): Promise<void> {
  const { state, error } = await daemon.finished(task);
  expect({ state, error }).toEqual({
    state: 'failed',
    error:
      `cannot have the container engine work in ${data.target}: ` +
      `it works in ${at('mnt/one/docker')}`,
  });
  expect(await data.judge(device.root, false)).toEqual([]);
  expect(await daemon.logOf(task)).toContain(
    `the engine works in ${at('mnt/one/docker')} as before`,
  );
}
