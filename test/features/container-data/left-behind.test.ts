import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { configOf, createContainerData, type ContainerData } from '../../faults/container-data.ts';
import { canLoop, command } from '../../support/loop-disks.ts';

const CONTAINER = randomBytes(32).toString('hex');
let folder: string;
let device: Device;
let data: ContainerData;
let daemon: TestDaemon;
const at = (path: string): string => join(folder, path);

describe.skipIf(!(await canLoop(['mkfs.ext4', 'rsync'])))('what outlives an engine', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'depotd-left-'));
    device = await createDevice({ directory: at('device') });
    const created = await createContainerData(folder);
    if (created === undefined) throw new Error('cannot make disks');
    data = created;
    await data.restore(device.root);
    await mkdir(at(`mnt/one/docker/containers/${CONTAINER}`), { recursive: true });
    daemon = await startDaemon(device, { set: data.set });
  });

  afterAll(async () => {
    await endShim();
    await daemon.close();
    await data.close();
    await device.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  test('and is taken over by none that is started does not keep a move from its end', async () => {
    await leaveShimAtTarget();
    const task = await daemon.submit('docker_migrate', { path: data.target });
    await expect
      .poll(() => daemon.logOf(task), { timeout: 50_000, interval: 250 })
      .toMatch(ADOPTED_TWICE);
    await rm(at('blocked'));

    const { state, error } = await daemon.finished(task, 60_000);

    expect({ state, error }).toEqual({
      state: 'failed',
      error: expect.stringContaining(`it works in ${at('mnt/one/docker')}`) as string,
    });
    const log = await daemon.logOf(task);
    expect(log).toContain(`(sh); it stays at ${data.target}`);
    expect(log.split(ADOPTED)).toHaveLength(3);
    // It is stopped no more, and so it runs.
    expect(
      await command('curl', [...ASKING, at('engine.sock'), 'http://engine/info']),
    ).toMatchObject({ stdout: expect.stringContaining(`"${data.target}"`) as string });
  });
});

/** With what it runs. */
async function endShim(): Promise<void> {
  const pid = (await readFile(at('shim'), 'utf8')).trim();
  await command('kill', ['-9', '--', `-${pid}`]);
}

const ASKING = ['-s', '--unix-socket'];
const ADOPTED = 'outlived the engine; it is started to take them over';
const ADOPTED_TWICE = new RegExp(`${ADOPTED}[^]*${ADOPTED}`);

/**
 * The first engine that is sent to the target leaves the shim of a container there and works where
 * it was before; then none comes up for as long as the file `blocked` is there.
 */
async function leaveShimAtTarget(): Promise<void> {
  const config = configOf(device.root);
  const text = await readFile(at('engine'), 'utf8');
  await rename(at('engine'), at('engine-as-configured'));
  await writeFile(at('engine-elsewhere'), text.replaceAll(config, at('elsewhere.json')));
  await writeFile(at('elsewhere.json'), JSON.stringify({ 'data-root': at('mnt/one/docker') }));
  await writeFile(
    at('engine'),
    `if [ "$1" = start ] && [ -e '${at('blocked')}' ]; then exit 1; fi
if [ "$1" = start ] && [ ! -e '${at('shim')}' ] && grep -q '${data.target}' '${config}'; then
	setsid sh -c 'sleep 300; :' containerd-shim ${CONTAINER} </dev/null >/dev/null 2>&1 &
	echo $! >'${at('shim')}'
	: >'${at('blocked')}'
	exec sh '${at('engine-elsewhere')}' start
fi
exec sh '${at('engine-as-configured')}' "$1"
`,
  );
}
