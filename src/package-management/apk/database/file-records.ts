import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileRecord } from '../../listing.ts';
import { readInstalled, type RecordedFile } from './installed-db.ts';

/** What starts programs is no setting, though an upgrade would leave it as it is. */
const PROGRAMS = /^\/etc\/(?:init|rc|hotplug)\.d\//;

/** apk has a hash of each file; which are configuration, OpenWrt's lists beside it say. */
export async function fileRecords(installed: string, listFolder: string): Promise<FileRecord[]> {
  const config = await configLines(listFolder);
  const isConfig = (path: string): boolean =>
    !PROGRAMS.test(path) &&
    (config.has(path) || [...config].some((line) => line.endsWith('/') && path.startsWith(line)));
  const found: { file: RecordedFile; owner: string }[] = [];
  const packages = await readInstalled(installed, {
    filesOf: () => true,
    onFile: (file, owner) => void found.push({ file, owner }),
  });
  return found.map(({ file: { path: name, hash, mode = 0o644, uid = 0 }, owner }) => {
    const path = `/${name}`;
    const algorithm = packages.get(owner)?.hasSha256 === true ? 'sha256' : 'sha1';
    const digits = Buffer.from(hash.slice('Q1'.length), 'base64').toString('hex');
    return {
      owner,
      path,
      isConfig: isConfig(path),
      ...(digits === '' ? {} : { hash: { algorithm, digits } }),
      mode,
      uid,
    };
  });
}

async function configLines(folder: string): Promise<Set<string>> {
  const names = (await readdir(folder).catch(() => [])).filter((name) =>
    name.endsWith('.conffiles'),
  );
  const texts = names.map((name) => readFile(join(folder, name), 'utf8').catch(() => ''));
  return new Set((await Promise.all(texts)).flatMap((text) => text.split('\n')).filter(Boolean));
}
