import { setTimeout as delay } from 'node:timers/promises';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { apkFeedPackages } from '../../device/apk-device/apk-device.ts';
import { createApkFeedFiles, type ApkFeedPackage } from '../../device/apk-device/apk-index.ts';
import { createRandom, type Random } from '../../support/random.ts';
import { expectAgreement } from './agreement.ts';
import { processesOf } from './device-processes.ts';
import { openApkStore, type ApkStore } from './open-store.ts';

/**
 * kill -9 at random moments, in one series on one device. More of them:
 * `APK=/path/to/apk KILLS=100 KILL_SEED=1 npx vitest run` and this file.
 */
const KILLS = Number(process.env.KILLS ?? '4');
const SEED = Number(process.env.KILL_SEED ?? '1');
const VICTIMS = ['depotd', 'apk', 'wget', 'script'] as const;

let store: ApkStore;
beforeEach(async () => {
  store = await openApkStore({ packages: packagesOf(1) });
  store.device.feed.misbehave('late-1.0-r1.apk', 'slow');
});
afterEach(() => store.close());

test(
  `${KILLS} kills at random moments: record and disk agree, and no log is lost`,
  { timeout: KILLS * 90_000 },
  async () => {
    const random = createRandom(SEED);
    const ids: string[] = [];
    const killed: Record<string, number> = {};
    let version = 1;
    for (let total = 0; total < KILLS;) {
      const present = await store.packages();
      const operation =
        present.late === undefined ? 'install' : random.pick(['upgrade', 'remove'] as const);
      if (operation === 'upgrade') await publish((version += 1));
      const id = await store.daemon.submit(operation, { package: 'late' });
      ids.push(id);
      const victim = await killOne(random, id);
      if (victim === 'depotd') await store.daemon.restart();
      const { state, error } = await store.daemon.finished(id);
      const what = `kill ${total} of ${victim ?? 'nobody'}: ${operation} ${state} ${error ?? ''}`;
      await expectAgreement(store, what);
      if (victim === undefined) continue;
      total += 1;
      killed[victim] = (killed[victim] ?? 0) + 1;
    }
    for (const id of ids) {
      // A job that was killed before its command has said why it ended.
      expect([id, (await store.daemon.logOf(id)).length]).not.toEqual([id, 0]);
    }
    process.stdout.write(`killed ${JSON.stringify(killed)} in ${ids.length} jobs: no difference\n`);
  },
);

/** Scripts take a while, and so does the download. */
function packagesOf(version: number): ApkFeedPackage[] {
  const script = (name: string): string => `#!/bin/sh\necho "${name} begins"\nsleep 0.2\n`;
  const text = createRandom(version);
  const noise = Array.from({ length: 6000 }, () => text.below(10)).join('');
  return ['early', 'late'].map((name) => ({
    name,
    version: `${version}.0-r1`,
    depends: name === 'late' ? ['early'] : [],
    files: {
      [`/usr/bin/${name}`]: `${name} ${version}.0-r1\n`,
      [`/usr/share/${name}/data`]: noise,
      [`/etc/init.d/${name}`]: '#!/bin/sh\n',
    },
    scripts: {
      'post-install': script(name),
      'pre-upgrade': script(name),
      'post-upgrade': script(name),
      'pre-deinstall': script(name),
    },
  }));
}

async function publish(version: number): Promise<void> {
  store.device.feed.publishFiles(createApkFeedFiles(apkFeedPackages(1, packagesOf(version))));
  store.device.feed.misbehave(`late-${version}.0-r1.apk`, 'slow');
  await store.device.apk('update');
}

/**
 * Waits for a random moment, and then until somebody of the kind chosen is there.
 * @returns undefined if the job ended before
 */
async function killOne(random: Random, id: string): Promise<string | undefined> {
  const victim = random.pick(VICTIMS);
  // A download is over soon.
  await delay(victim === 'wget' ? 0 : random.below(900));
  for (;;) {
    if (victim === 'depotd') {
      await store.daemon.kill('SIGKILL');
      return victim;
    }
    const pids = await pidsOf(victim);
    const pid = pids[random.below(pids.length)];
    if (pid !== undefined && kill(pid)) return victim;
    if (!(await isRunning(id))) return undefined;
    await delay(random.below(20));
  }
}

async function pidsOf(victim: 'apk' | 'wget' | 'script'): Promise<number[]> {
  const { root } = store.device;
  if (victim !== 'script') return (await processesOf(root, victim)).map(({ pid }) => pid);
  const all = await processesOf(root);
  return all
    .filter(({ command }) => /lib\/apk\/exec|\/proc\/self\/fd|^sleep /.test(command))
    .map(({ pid }) => pid);
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
    return false;
  }
}

async function isRunning(id: string): Promise<boolean> {
  const answer = await store.daemon.get(`admin/system/tasks/status?task_id=${id}`);
  return ((await answer.json()) as { running: boolean }).running;
}
