import { run } from '../../../device/exec.ts';
import { lastWords, plainLines, failureError } from '../../failure.ts';
import type { PackageManager, Restoration } from '../../manager.ts';
import type { AutoInstalled } from '../database/auto-installed.ts';
import type { Installation } from '../installation.ts';
import type { OpkgCommands } from './commands.ts';
import { waitForOpkg } from './lock.ts';

const LIMITS = { timeoutMs: 30_000, maxBytes: 64 * 1024 };

interface Marks {
  auto: Pick<AutoInstalled, 'forget'>;
  restoration: () => Promise<Pick<Restoration, 'recordsOf' | 'finish'>>;
}

/** opkg's own hold is a flag in its record, beside what says whether its owner asked for it. */
export function createHold(
  installation: Installation,
  commands: OpkgCommands,
  marks: Marks,
): PackageManager['setHold'] {
  return async (name, { isHeld, isAuto }) => {
    const entry = (await installation.read()).get(name);
    if ((entry?.isHeld === true) !== isHeld) {
      const released = entry?.isAuto === true ? 'ok' : 'user';
      const flag = isHeld ? 'hold' : released;
      await setFlag({ ...installation, ...commands }, name, { isHeld, flag });
    } else if (entry !== undefined && !isHeld && isAuto === false) {
      // Somebody else's opkg would write over the hold what it has read before.
      await waitForOpkg(installation, QUIETLY);
      await unmark(name, marks);
    }
  };
}

const QUIETLY = { note: () => Promise.resolve(), signal: new AbortController().signal };

/** opkg has no command that takes away its mark of what came as a dependency. */
async function unmark(name: string, { auto, restoration }: Marks): Promise<void> {
  await auto.forget(name);
  const { recordsOf, finish } = await restoration();
  const record = (await recordsOf([name])).get(name) ?? '';
  const lines = record.split('\n').filter((line) => !line.startsWith('Auto-Installed:'));
  await finish(new Map([[name, lines.join('\n')]]));
}

async function setFlag(
  { prepareFolders, lockHolder, read, opkg }: Installation & OpkgCommands,
  name: string,
  { isHeld, flag }: { isHeld: boolean; flag: string },
): Promise<void> {
  await prepareFolders();
  const purpose = `${isHeld ? 'hold' : 'release'} ${name}`;
  if ((await lockHolder()) !== undefined) {
    throw failureError(purpose, { code: 'locked', reason: 'another program holds its lock' });
  }
  const { stdout, stderr } = await run(opkg('flag', flag, name), LIMITS);
  // opkg ends well whatever it did.
  if (((await read()).get(name)?.isHeld === true) === isHeld) return;
  throw failureError(purpose, {
    code: 'unknown',
    reason: `opkg says ${lastWords(plainLines(`${stdout}\n${stderr}`)) ?? 'nothing'}`,
  });
}
