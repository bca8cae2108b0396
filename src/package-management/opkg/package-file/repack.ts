import { copyFile, lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { DepotError } from '../../../errors.ts';
import { syncFolder } from '../../../device/durable-file.ts';
import { run } from '../../../device/exec.ts';
import { inspectIpk } from './ipk-file.ts';

interface PackOptions {
  name: string;
  /** opkg's folder of control files. */
  infoDir: string;
  /** Where the package is installed. */
  destination: string;
  /** The file to make. */
  target: string;
  environment: Record<string, string>;
}

const LIMITS = { timeoutMs: 120_000, maxBytes: 64 * 1024 };
const MOST_BYTES = 1024 ** 3;
/** Two blocks of zeros are the end of an archive (POSIX.1, ustar). */
const EMPTY_TAR = new Uint8Array(1024);

/**
 * Packs an installed package back into a package file, from opkg's own records, since the feed may
 * not have that version any more. Conffiles go in as they are now, so that putting it back changes
 * none.
 * @throws DepotError internal
 */
export async function packInstalled({
  name,
  infoDir,
  destination,
  target,
  environment,
}: PackOptions): Promise<void> {
  const work = `${target}.work`;
  await rm(work, { recursive: true, force: true });
  await mkdir(join(work, 'control'), { recursive: true, mode: 0o700 });
  const tar = async (...args: string[]): Promise<void> => {
    const { exitCode, stderr } = await run(
      { argv: ['tar', ...args], environment, cwd: '/' },
      LIMITS,
    );
    if (exitCode !== 0) {
      throw new DepotError(
        'internal',
        `cannot keep ${name} as a file: tar says ${stderr.trim().slice(0, 300)}`,
      );
    }
  };
  try {
    for (const file of await readdir(infoDir)) {
      if (file.startsWith(`${name}.`) && file !== `${name}.list`) {
        await copyFile(join(infoDir, file), join(work, 'control', file.slice(name.length + 1)));
      }
    }
    await writeFile(join(work, 'debian-binary'), '2.0\n');
    const data = join(work, 'data.tar.gz');
    const files = await filesOf({ name, infoDir, destination });
    // tar makes no archive of nothing, which is what a meta package has.
    if (files.length === 0) await writeFile(data, gzipSync(EMPTY_TAR));
    // Named one by one: not every busybox can read the names from a file.
    else await tar('-C', destination, '-czf', data, ...files.map((path) => `.${path}`));
    await tar('-C', join(work, 'control'), '-czf', join(work, 'control.tar.gz'), '.');
    await tar(
      '-C',
      work,
      '-czf',
      join(work, 'package'),
      './debian-binary',
      './control.tar.gz',
      './data.tar.gz',
    );
    await inspectIpk(join(work, 'package'), MOST_BYTES);
    await rename(join(work, 'package'), target);
    await syncFolder(join(target, '..'));
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** What of the package is still there; a conffile may have been removed by its owner. */
async function filesOf({
  name,
  infoDir,
  destination,
}: Pick<PackOptions, 'name' | 'infoDir' | 'destination'>): Promise<string[]> {
  const lines = (await readFile(join(infoDir, `${name}.list`), 'utf8'))
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '');
  const paths = lines.filter((path) => path.startsWith('/'));
  const isThere = await Promise.all(
    paths.map((path) =>
      lstat(join(destination, path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_, index) => isThere[index]);
}
