import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { replaceFile } from '../../device/durable-file.ts';
import { openTrustedFolder } from '../../device/private-folder.ts';
import { newId } from '../../jobs/job.ts';
import { isPresent } from '../../package-management/database.ts';
import SCRIPT from './after-upgrade.sh';
import { write, type BackupTools } from './backup-plan.ts';
import { collect, ownerKeys, stateFolder } from './collect-set.ts';
import { filesOfManager } from './manager-files.ts';
import type { Manifest } from './manifest.ts';
import { measure } from './write-set.ts';

/** procd starts it at boot (rcS), as it does the self-upgrade's own script. */
const SCRIPT_PATH = '/etc/rc.d/S95depotd-restore';
const KEEP_FOLDER = '/lib/upgrade/keep.d';
/** Packages that are brought back ahead of all others, as far as they were installed. */
const FIRST = ['depotd', 'depotd-node', 'luci-app-depotd'];
const MOST_SETS = 8;

/** What sysupgrade is to keep beside `/etc/depotd/`, and what the script behind it needs. */
export function createAfterUpgrade(tools: BackupTools) {
  const { manager, paths, sets } = tools;
  const folder = join(paths.stateDir, 'after-upgrade');
  const stateDir = stateFolder(paths);
  const read = (name: string): Promise<string> =>
    readFile(join(folder, name), 'utf8').catch(() => '');
  const put = (name: string, text: string): Promise<void> => putFile(join(folder, name), text);

  /** What add_feed wrote is kept whether all comes back by itself or not. */
  const writeKeepList = async (isOn: boolean): Promise<void> => {
    const names = await readdir(paths.onDevice(KEEP_FOLDER)).catch(() => undefined);
    if (names === undefined) return;
    const keys = await ownerKeys(manager, paths);
    const { ownerFeeds } = filesOfManager(manager.name);
    const kept = [...keys, ownerFeeds, ...(isOn ? [SCRIPT_PATH, `${stateDir}/`] : [])];
    const text = linesOf(kept);
    await putFile(paths.onDevice(`${KEEP_FOLDER}/depotd-restore`), text);
    if (isOn) await put('keep', text);
  };
  const remove = async (): Promise<void> => {
    const id = (await read('set')).trim();
    if (id !== '') await sets.remove(id).catch(() => undefined);
    await rm(folder, { recursive: true, force: true });
    await rm(paths.onDevice(SCRIPT_PATH), { force: true });
  };
  const writeStandingSet = async (): Promise<void> => {
    const known = (await read('set')).trim();
    const id = known === '' ? newId() : known;
    const there = await sets.find(id).catch(() => undefined);
    const { manifest } = await collect(tools, { id, reason: 'firmware' });
    if (there !== undefined && sameContent(there.manifest) === sameContent(manifest)) return;
    await write(tools, { id, reason: 'firmware', file: await sets.place(id) });
    await put('set', `${id}\n`);
  };
  const addSet = async (manifest: Manifest, file: string): Promise<void> => {
    if (manifest.package_files.length === 0) return;
    const sum = (await measure(file))?.sha256;
    const known = (await read('sets')).split('\n').filter((each) => each !== '');
    if (sum === undefined || known.includes(sum)) return;
    await put('sets', linesOf([...known, sum].slice(-MOST_SETS)));
  };
  return {
    /** Brings all of it up to what is installed now. Writes nothing that is as it should be. */
    refresh: async (isOn: boolean): Promise<void> => {
      await writeKeepList(isOn);
      const names: string[] = await readdir(folder).catch(() => []);
      if (!isOn) return names.length > 0 ? remove() : undefined;
      // `due`: the script has not finished, and still reads what the former firmware left here.
      if (names.includes('due')) return;
      await openTrustedFolder(folder);
      if ((await read('set')) === '') {
        for (const { manifest, file } of await sets.all()) await addSet(manifest, file);
      }
      await writeStandingSet();
      await writeSettings(tools, folder, put);
      const script = SCRIPT.replace('$root/etc/depotd', `$root${stateDir}`);
      await putFile(paths.onDevice(SCRIPT_PATH), script, 0o755);
    },
    /** A backup with package files somewhere else, which the script may use. */
    addSet: async (manifest: Manifest, file: string): Promise<void> => {
      if ((await read('set')) !== '') await addSet(manifest, file);
    },
  };
}

/** What the script reads beside the set. */
async function writeSettings(
  { manager, paths }: BackupTools,
  folder: string,
  put: (name: string, text: string) => Promise<void>,
): Promise<void> {
  const database = await manager.installed();
  const { feeds } = await manager.feeds.read();
  const lines = feeds
    .filter(({ kind, isEnabled }) => kind === 'custom' && isEnabled)
    .map(filesOfManager(manager.name).lineOf);
  await put('feeds', linesOf(lines));
  await put('manager', `${manager.name}\n`);
  const first = FIRST.filter((name) => name === 'depotd' || isPresent(database.get(name)));
  await put('first', linesOf(first));
  await put('release', await readFile(paths.onDevice('/etc/openwrt_release'), 'utf8'));
  const keys = await ownerKeys(manager, paths);
  const names = keys.map((path) => basename(path));
  for (const path of keys) {
    await put(`keys/${basename(path)}`, await readFile(paths.onDevice(path), 'utf8'));
  }
  for (const name of await readdir(join(folder, 'keys')).catch(() => [])) {
    if (!names.includes(name)) await rm(join(folder, 'keys', name), { force: true });
  }
}

/** Entries as a file has them, one in each line. */
function linesOf(entries: readonly string[]): string {
  return entries.map((entry) => `${entry}\n`).join('');
}

/** What a set has in it, without what differs each time. */
function sameContent(set: Manifest): string {
  return JSON.stringify({ ...set, made_at: 0, depotd: '' });
}

async function putFile(file: string, text: string, mode = 0o600): Promise<void> {
  const known = await readFile(file, 'utf8').catch(() => undefined);
  if (known !== text) await replaceFile(file, text, mode);
}
