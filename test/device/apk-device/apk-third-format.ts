import { generateKeyPairSync } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import type { PackageFiles } from '../../../packaging/package-files.ts';
import type { ApkFeedPackage } from './apk-index.ts';
import { createApk, describe } from './apk.ts';
import { runCommand } from '../command.ts';

/** The name of a feed's index in OpenWrt's feeds. */
export const THIRD_INDEX_NAME = 'packages.adb';

export interface ThirdFormatMaker {
  /** The files of a feed by name. */
  createFiles: (packages: readonly ApkFeedPackage[]) => Promise<Map<string, Buffer>>;
  /** PEM, of the key that its indexes are signed with. */
  publicKey: string;
}

/**
 * Makes feeds in apk's third format, as OpenWrt's builder does: with an apk that can, since its
 * archives are a database of its own.
 * @param program an apk with mkpkg and mkndx
 */
export function createThirdFormatMaker(program: string): ThirdFormatMaker {
  const pair = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const privateKey = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  return {
    publicKey: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    createFiles: (packages) => createFiles(packages, { program, privateKey }),
  };
}

async function createFiles(
  packages: readonly ApkFeedPackage[],
  { program, privateKey }: { program: string; privateKey: string },
): Promise<Map<string, Buffer>> {
  const folder = await mkdtemp(join(tmpdir(), 'depotd-apk-feed-'));
  const keyFile = join(folder, 'key.pem');
  await writeFile(keyFile, privateKey);
  const feed = join(folder, 'feed');
  await mkdir(feed);
  for (const source of packages) await makePackage(source, { program, folder, feed });
  const names = (await readdir(feed)).map((name) => join(feed, name));
  const index = join(feed, THIRD_INDEX_NAME);
  const options = ['--allow-untrusted', '--sign-key', keyFile, '--output', index];
  await mustRun([program, 'mkndx', ...options, ...names]);
  const isListed = (name: string): boolean =>
    packages.every((source) => source.listing !== 'no-file' || !name.startsWith(`${source.name}-`));
  const files = (await readdir(feed)).filter(isListed);
  const contents = await Promise.all(
    files.map(async (name) => [name, await readFile(join(feed, name))] as const),
  );
  await rm(folder, { recursive: true });
  return new Map(contents);
}

interface Workplace {
  program: string;
  folder: string;
  feed: string;
}

async function makePackage(
  source: ApkFeedPackage,
  { program, folder, feed }: Workplace,
): Promise<void> {
  const root = join(folder, source.name);
  const { files, fileName } = createApk(source);
  await layOut(root, files);
  const scripts = Object.entries(source.scripts ?? {});
  for (const [type, content] of scripts) {
    await writeFile(join(folder, `${source.name}.${type}`), content);
  }
  await mustRun([
    program,
    'mkpkg',
    ...infoOf(source).flatMap((info) => ['--info', info]),
    ...scripts.flatMap(([type]) => [
      '--script',
      `${type}:${join(folder, `${source.name}.${type}`)}`,
    ]),
    ...(source.triggers ?? []).flatMap((pattern) => ['--trigger', pattern]),
    '--files',
    root,
    '--output',
    join(feed, fileName),
  ]);
}

async function layOut(root: string, files: PackageFiles): Promise<void> {
  for (const [path, file] of Object.entries(files)) {
    const target = join(root, path);
    await mkdir(dirname(target), { recursive: true });
    if (typeof file === 'string') await writeFile(target, file);
    else if ('target' in file) await symlink(file.target, target);
    else {
      await writeFile(target, file.content);
      await chmod(target, file.mode ?? 0o644);
    }
  }
}

function infoOf(source: ApkFeedPackage): string[] {
  const fields: [name: string, value: string | undefined][] = [
    ['name', source.name],
    ['version', source.version],
    ['arch', source.architecture ?? 'noarch'],
    ['description', describe(source)],
    ['license', source.licence ?? 'MIT'],
    ['origin', source.origin ?? `feeds/lab/${source.name}`],
    ['url', `https://example.invalid/${source.name}`],
    ['depends', source.depends?.join(' ')],
    ['provides', source.provides?.join(' ')],
    ['replaces', source.replaces?.join(' ')],
    ['install-if', source.installIf?.join(' ')],
    ['provider-priority', source.providerPriority?.toString()],
  ];
  return fields.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`${name}:${value}`],
  );
}

async function mustRun(words: [string, ...string[]]): Promise<void> {
  const { code, stderr } = await runCommand(words);
  if (code !== 0) throw new Error(`cannot ${words[1] ?? 'run it'}: ${stderr}`);
}
