import { run } from '../../../device/exec.ts';
import { lastWords, plainLines, failureError } from '../../failure.ts';
import type { PackageManager } from '../../manager.ts';
import type { Installation } from '../installation.ts';
import type { OpkgCommands } from './commands.ts';

const LIMITS = { timeoutMs: 30_000, maxBytes: 64 * 1024 };

/** opkg's own hold is a flag in its record, beside what says whether its owner asked for it. */
export function createHold(
  { prepareFolders, lockHolder, read }: Installation,
  { opkg }: OpkgCommands,
): PackageManager['setHold'] {
  return async (name, { isHeld }) => {
    const entry = (await read()).get(name);
    if ((entry?.isHeld === true) === isHeld) return;
    await prepareFolders();
    const purpose = `${isHeld ? 'hold' : 'release'} ${name}`;
    if ((await lockHolder()) !== undefined) {
      throw failureError(purpose, { code: 'locked', reason: 'another program holds its lock' });
    }
    const before = entry?.isAuto === true ? 'ok' : 'user';
    const { stdout, stderr } = await run(opkg('flag', isHeld ? 'hold' : before, name), LIMITS);
    // It ends well whatever it did.
    if (((await read()).get(name)?.isHeld === true) === isHeld) return;
    throw failureError(purpose, {
      code: 'unknown',
      reason: `opkg says ${lastWords(plainLines(`${stdout}\n${stderr}`)) ?? 'nothing'}`,
    });
  };
}
