import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { onTestFinished } from 'vitest';

import { REPOSITORY } from '../source-tree.ts';

/** A folder that stands for a device's root. */
export interface Stage {
  root: string;
  /**
   * Lays a file of the repository out as the device's PATH, every device path in it moved below the
   * root. @returns where it is
   */
  lay: (source: string, path: string) => Promise<string>;
  /** @returns where it is */
  write: (path: string, text: string, mode?: number) => Promise<string>;
  read: (path: string) => Promise<string>;
}

/** Goes away with the test. */
export async function createStage(): Promise<Stage> {
  const root = await mkdtemp(join(tmpdir(), 'depotd-init-'));
  onTestFinished(() => rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  const write: Stage['write'] = async (path, text, mode = 0o644) => {
    const target = join(root, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
    await chmod(target, mode);
    return target;
  };
  return {
    root,
    write,
    lay: async (source, path) =>
      write(path, moved(await readFile(join(REPOSITORY, source), 'utf8'), root), 0o755),
    read: (path) => readFile(join(root, path), 'utf8'),
  };
}

/** The folders in which the scripts have something of depotd. The PATH that they set stays. */
function moved(text: string, root: string): string {
  return text.replaceAll(
    /(?<![\w.}])\/(etc\/(config|depotd|rc\.d)|usr\/lib\/depotd|usr\/sbin\/depotd|var\/run|run\/depotd)/g,
    `${root}/$1`,
  );
}
