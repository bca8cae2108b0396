import { writeFile } from 'node:fs/promises';
import {
  createEngineDevice,
  shellImage,
  type EngineDevice,
} from '../features/container-data/engine-device.ts';
import { command } from '../support/loop-disks.ts';
import { report, timed } from './measures.ts';

/**
 * A whole move of the container data beside a plain rsync of the same data to a disk of the same
 * kind, before and after it, all from cold caches. A plain copy is not on the disk yet when rsync
 * ends, the moved one is: so its flush is told, too. Needs root, dockerd, rsync, and room for four
 * times the data.
 *
 *     npm run build && node --import tsx test/bench/migrate.ts
 */
const FILES = Number(process.env['FILES'] ?? 100_000);
const MIB = Number(process.env['MIB'] ?? 2048);
const LOOK_MS = 50;
const sizeMib = MIB * 2 + FILES / 50 + 600;

/** As many small files of up to 16 KiB, 500 a folder, and large ones that fill up to the size. */
const FILL = `cd "$1" && mkdir small large
awk -v files="$2" 'BEGIN {
  for (text = "a line of a small file, as there are many in an image"; length(text) < 440; ) text = text ", " text
  for (n = 0; n < files; n++) {
    if (n % 500 == 0) { folder = "small/" n / 500; system("mkdir " folder) }
    file = folder "/" n
    for (line = 0; line <= n % 37; line++) print n, line, text >file
    close(file)
  }
}'
for n in $(seq $(($3 / 64))); do dd if=/dev/urandom of=large/$n bs=1M count=64 2>/dev/null; done`;

await measure();

async function measure(): Promise<void> {
  const on = await createEngineDevice(sizeMib);
  try {
    await fill(on);
    const before = await plainCopy(on, 'three');
    const move = await wholeMove(on);
    const after = await plainCopy(on, 'four');
    const plain = (before.ms + after.ms) / 2;
    const flushed = plain + (before.flushMs + after.flushMs) / 2;
    report('plain rsync', {
      's before': before.ms / 1000,
      's after': after.ms / 1000,
      's of flush': (flushed - plain) / 1000,
    });
    report('whole move', {
      s: move.ms / 1000,
      'of plain': move.ms / plain,
      'of plain and its flush': move.ms / flushed,
      'engine stopped, share': move.stoppedMs / move.ms,
    });
  } finally {
    await on.close();
  }
}

async function fill({ engine, folder, at }: EngineDevice): Promise<void> {
  await engine.importImage(await shellImage(folder), 'shell');
  for (const name of ['one', 'two', 'three']) {
    await engine.run('shell', {
      name,
      script: 'trap exit TERM; while :; do sleep 0.1; done',
      binds: ['files:/files'],
    });
  }
  await command('sh', [
    '-c',
    FILL,
    'sh',
    at('mnt/one/docker/volumes/files/_data'),
    String(FILES),
    String(MIB),
  ]);
}

async function plainCopy(
  { disks, at }: EngineDevice,
  name: string,
): Promise<{ ms: number; flushMs: number }> {
  const disk = await disks.make(name, { sizeMib });
  await coolDown();
  const { ms } = await timed(() =>
    command('rsync', ['-aHAXSx', `${at('mnt/one/docker')}/`, `${disk}/docker/`]),
  );
  const flush = await timed(() => command('sync', ['-f', disk]));
  await disks.unmount(name);
  return { ms, flushMs: flush.ms };
}

async function wholeMove({
  daemon,
  engine,
  migrate,
  at,
}: EngineDevice): Promise<{ ms: number; stoppedMs: number }> {
  await coolDown();
  let stoppedMs = 0;
  const looking = setInterval(
    () => void engine.answers().then((isUp) => (stoppedMs += isUp ? 0 : LOOK_MS)),
    LOOK_MS,
  );
  const { value, ms } = await timed(async () => {
    const { task_id: id = '' } = await migrate(at('mnt/two/docker'));
    // Waits for the stream's end: asking again and again would take from what is measured.
    await (await daemon.get(`admin/system/tasks/events?task_id=${id}`)).text();
    return daemon.status(id);
  });
  clearInterval(looking);
  if (value.state !== 'done') {
    throw new Error(`cannot measure a move that ended ${value.state}: ${value.error ?? ''}`);
  }
  return { ms, stoppedMs };
}

async function coolDown(): Promise<void> {
  await command('sync');
  await writeFile('/proc/sys/vm/drop_caches', '3');
}
