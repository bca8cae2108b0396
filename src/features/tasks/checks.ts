import { readdir } from 'node:fs/promises';
import { writeFaults } from '../../device/is-there.ts';
import type { DeviceCheck, Finding } from '../device-check.ts';
import type { FeatureContext } from '../feature.ts';

type Records = Pick<FeatureContext, 'paths' | 'queue'>;

/** Whether tasks can be put on record, and what of their records was set aside. */
export function taskChecks(records: Records): readonly DeviceCheck[] {
  return [{ id: 'records', run: () => judge(records) }];
}

async function judge({ paths: { stateDir, logDir }, queue }: Records): Promise<Finding> {
  const faults = await writeFaults([stateDir, logDir]);
  if (faults.length > 0) {
    const message = `no task can begin: ${faults.join('; ')}`;
    const remedy =
      'mount the disk for writing again, or set main.state_dir and main.log_dir elsewhere';
    return { state: 'error', message, remedy };
  }
  const damaged = queue
    .all()
    .filter(({ isDamaged, isDismissed }) => isDamaged === true && isDismissed !== true);
  if (damaged.length > 0) {
    const message = `records of tasks were damaged: ${damaged.map(({ id }) => id).join(', ')}`;
    return { state: 'warning', message, remedy: 'see what became of them, and dismiss them' };
  }
  const aside = (await readdir(stateDir).catch(() => [])).filter((name) =>
    /\.damaged(\.jsonl)?$/.test(name),
  );
  if (aside.length === 0) {
    return { state: 'ok', message: `tasks are put on record in ${stateDir}` };
  }
  const message = `tasks are put on record; damaged ones were kept as ${aside.join(', ')}`;
  const remedy = `remove ${aside.map((name) => `${stateDir}/${name}`).join(', ')}`;
  return { state: 'ok', message, remedy };
}
