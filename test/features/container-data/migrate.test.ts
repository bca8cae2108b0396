import { readdir, readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import { createEngineDevice, shellImage, type EngineDevice } from './engine-device.ts';
import { canLoop, command } from '../../support/loop-disks.ts';

/** A real engine is root's to start, too. */
const isPossible = await canLoop([
  'dockerd',
  'rsync',
  'busybox',
  'mkfs.ext4',
  'mkfs.btrfs',
  'mkfs.vfat',
  'setfattr',
]);
let on: EngineDevice;
/** Moves go from one disk to the other and back. */
let here = '';

beforeAll(async () => {
  if (!isPossible) return;
  on = await createEngineDevice();
  here = on.at('mnt/one/docker');
  await on.engine.importImage(await shellImage(on.folder), 'shell');
  const waiting = 'trap exit TERM; sleep 3600 & wait';
  await on.engine.run('shell', { name: 'quiet', script: waiting, binds: ['files:/files'] });
  await on.engine.run('shell', { name: 'kept', script: waiting, restart: 'unless-stopped' });
  await on.engine.run('shell', {
    name: 'writer',
    script: WRITER,
    binds: ['written:/written', `${on.folder}:/outside`],
    restart: 'always',
  });
  await command('sh', ['-c', FILES, 'sh', filesIn(here)]);
});

afterAll(async () => {
  if (isPossible) await on.close();
});

/** Also behind a move that did not answer. */
afterEach(async () => {
  if (!isPossible) return;
  await on.hook('start', '');
  await on.hook('stop', '');
});

describe.skipIf(!isPossible)('moving the data of a real engine', () => {
  test('the move takes everything with it, leaves the old data and says where it is', async () => {
    const [old, target] = [here, there('docker')];
    const listing = await listOf(filesIn(old));
    expect(await on.check(target)).toEqual({ code: 200, result: 'good' });

    const moved = await on.move(target);

    expect(moved).toMatchObject({ state: 'done', exit_code: 0, kind: 'migrate' });
    await expectAllAt(target);
    expect(await listOf(filesIn(target))).toBe(listing);
    expect(await listOf(filesIn(old))).toBe(listing);
    expect((await readdir(target)).filter((name) => name.startsWith('.'))).toEqual([]);
    await command('rm', ['-r', old]);
    expect(moved.log.trimEnd().split('\n').at(-1)).toMatch(
      new RegExp(`the old data is still in ${old} and holds \\d+\\.\\d\\d MiB`),
    );
  });

  test("the engine is nobody's job: it outlives the task and a daemon that is killed", async () => {
    const pid = await on.enginePid();
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1');
    expect(environment).not.toContain('DEPOTD');

    await on.daemon.kill('SIGKILL');

    expect(await on.engine.dataRoot()).toBe(here);
    await on.daemon.restart();
    expect(await on.enginePid()).toBe(pid);
  });

  test('what is there already is replaced only when asked for, and then gone', async () => {
    const target = there('docker');
    await command('sh', ['-c', 'mkdir -p "$1/sub" && echo old >"$1/sub/file"', 'sh', target]);
    expect(await on.check(target)).toEqual({ code: 200, result: 'existed' });
    expect(await on.migrate(target)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'there is something already; overwrite=true replaces it',
      ) as string,
    });

    expect(await on.move(target, 'true')).toMatchObject({ state: 'done' });

    await expectAllAt(target);
    expect(
      (await readdir(target)).filter((name) => name.startsWith('.') || name === 'sub'),
    ).toEqual([]);
  });
});

describe.skipIf(!isPossible)('a move that comes to nothing', () => {
  test('where the containers do not run at the new place they go on at the old one, and the target is as it was', async () => {
    const target = there('taken');
    await command('sh', [
      '-c',
      'mkdir -p "$1/sub" && echo mine >"$1/sub/file" && chmod 751 "$1"',
      'sh',
      target,
    ]);
    const listing = await listOf(target);
    await on.hook('start', `rm -r '${target}/containers'`);

    const failed = await on.move(target, 'true');
    await on.hook('start', '');

    expect(failed).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('cannot get the containers running again') as string,
    });
    expect(failed.log).toContain(`the engine works in ${here} as before`);
    await expectAllAt(here);
    const left =
      /in (\S+\/\.depotd-left-\d+), and nothing touches it/.exec(failed.log)?.[1] ?? 'not told';
    expect(await readdir(`${left}/new`)).toContain('volumes');
    await command('rm', ['-r', left]);
    expect(await listOf(target)).toBe(listing);
  });

  test('an engine that comes up late at the place that was left again is stopped, and started where it was', async () => {
    const target = there('late');
    await on.hook(
      'start',
      `echo >>starts
case $(wc -l <starts) in
1) cp "$config" late; rm -r '${target}/containers' ;;
2) config=late ;;
esac`,
    );

    const failed = await on.move(target);
    await on.hook('start', '');

    expect(failed).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('cannot get the containers running again') as string,
    });
    expect(failed.log).toContain(
      `the container engine came up in ${target}: it is stopped and started again`,
    );
    expect(failed.log).toContain(`the engine works in ${here} as before`);
    await expectAllAt(here);
  });

  test('a move that is stopped leaves everything as it was', async () => {
    const target = there('new/folder');
    const stop = await on.hold('stop');
    const { task_id: id = '' } = await on.migrate(target);
    await stop.reached();

    await on.daemon.post('admin/system/tasks/stop', { task_id: id });
    await stop.release();

    expect(await on.daemon.finished(id)).toMatchObject({ state: 'stopped' });
    await expectAllAt(here);
    expect(await readdir(there(''))).not.toContain('new');
  });
});

describe.skipIf(!isPossible)('a move that is disturbed', () => {
  test.each(['stop', 'start'] as const)(
    'a daemon that is killed at the %s of the engine: the next one brings the move to its end',
    async (verb) => {
      const target = there(`after-${verb}`);
      const held = await on.hold(verb);
      const { task_id: id = '' } = await on.migrate(target);
      await held.reached();

      await on.daemon.kill('SIGKILL');
      await held.release();
      await on.daemon.restart();

      expect(await on.daemon.finished(id)).toMatchObject({ state: 'done' });
      await expectAllAt(target);
    },
  );

  test('a target that is unmounted in the middle gets nothing on the disk below, and the next try succeeds', async () => {
    const target = there('unmounted');
    const disk = target.includes('/mnt/one/') ? 'one' : 'two';
    await on.hook('stop', `umount -l '${there('')}'`);

    const failed = await on.move(target);
    await on.hook('stop', '');

    expect(failed).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('is its disk still mounted?') as string,
    });
    expect(await readdir(there(''))).toEqual([]);
    await on.disks.mount(disk);
    await expectAllAt(here);
    expect(await on.move(target)).toMatchObject({ state: 'done' });
    await expectAllAt(target);
  });

  test('a target that gets full is told, and given back what the move took; the next try succeeds', async () => {
    const target = there('full');
    const filler = there('filler');
    await on.hook(
      'stop',
      `dd if=/dev/zero of='${filler}' bs=64k 2>/dev/null; dd if=/dev/zero of='${filler}2' bs=512 2>/dev/null`,
    );

    const failed = await on.move(target);
    await on.hook('stop', '');

    expect(failed).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('is full') as string,
    });
    await expectAllAt(here);
    expect(await readdir(there(''))).not.toContain('full');
    await command('rm', [filler, `${filler}2`]);
    expect(await on.move(target)).toMatchObject({ state: 'done' });
    await expectAllAt(target);
  });

  test('chdir copies nothing and only changes the place', async () => {
    const target = there('docker');

    expect(await on.move(target, 'chdir')).toMatchObject({ state: 'done' });

    expect(await on.configured()).toBe(target);
    expect(await on.engine.dataRoot()).toBe(target);
  });
});

function there(name: string): string {
  return on.at(`mnt/${here.includes('/mnt/one/') ? 'two' : 'one'}/${name}`);
}

function filesIn(root: string): string {
  return `${root}/volumes/files/_data`;
}

/**
 * The engine works there, with all containers, and what was acknowledged outside is in its data.
 */
async function expectAllAt(root: string): Promise<void> {
  expect(await on.configured()).toBe(root);
  expect(await on.engine.dataRoot()).toBe(root);
  expect(await on.engine.running()).toEqual(['kept', 'quiet', 'writer']);
  const before = Number(await readFile(on.at('acknowledged'), 'utf8'));
  await expect
    .poll(async () => Number(await readFile(on.at('acknowledged'), 'utf8')), { timeout: 10_000 })
    .toBeGreaterThan(before);
  expect(
    Number(await readFile(`${root}/volumes/written/_data/number`, 'utf8')),
  ).toBeGreaterThanOrEqual(before);
  expect(await readFile(on.at('lost'), 'utf8').catch(() => 'none')).toBe('none');
  here = root;
}

/**
 * Writes a number in its volume, and then, outside, that it has; at its start it looks whether what
 * it had acknowledged is still there.
 */
const WRITER = `trap exit TERM
number=0 acknowledged=0
[ ! -e /written/number ] || read -r number </written/number
[ ! -e /outside/acknowledged ] || read -r acknowledged </outside/acknowledged
[ "$number" -ge "$acknowledged" ] || echo "$acknowledged, found $number" >/outside/lost
while :; do
  number=$((number + 1))
  echo $number >/written/new && mv /written/new /written/number
  echo $number >/outside/new && mv /outside/new /outside/acknowledged
  sleep 0.02
done`;

/** Whatever a copy can lose: links, holes, attributes, owners, modes, times, nodes, names. */
const FILES = `cd "$1" && mkdir -p many && for n in $(seq 300); do echo $n >many/$n; done
head -c 5000000 /dev/urandom >large && ln large hard && ln -s nowhere soft && mkfifo pipe
truncate -s 30M sparse && printf x | dd of=sparse bs=1 seek=20000000 conv=notrunc 2>/dev/null
mknod node c 0 0 && setfattr -n trusted.overlay.opaque -v y many && setfattr -n user.note -v text large
chown 12345:23456 many/1 && chmod 4751 many/2 && touch -d @1234567890.123456789 many/3 && touch "$(printf 'a\\nb \\377')"`;

/** All that can be compared, in one text. */
async function listOf(folder: string): Promise<string> {
  const find = `cd "$1" && find . -mindepth 1 \\( -type d -printf '%p d %m %U %G %T@\\n' -o -printf '%p %y %m %U %G %s %n %l %b %T@\\n' \\) | sort; find . -type f -exec sha256sum {} + | sort; find . -print0 | sort -z | xargs -0 getfattr -h -d -m - | sort`;
  return (
    await command('sh', ['-c', find, 'sh', folder], {
      maxBuffer: 64 * 1024 ** 2,
      encoding: 'latin1',
    })
  ).stdout;
}
