import { lockHolderOf } from '../../device/lock-holder.ts';
import { reasonOf } from '../../errors.ts';
import type { Diagnosis } from '../diagnosis.ts';
import type { Installation } from './installation.ts';

export function createDiagnosis(installation: Installation): Diagnosis {
  const { assertSound, copy, locations } = installation;
  const lockHolder: Diagnosis['lockHolder'] = async () => {
    const pid = await lockHolderOf(locations.lock, 'FLOCK');
    return pid === undefined ? undefined : { file: locations.lock, pid };
  };
  return {
    findDamage: async () => {
      // World and the record are replaced one after the other.
      if ((await lockHolder()) !== undefined) return undefined;
      return assertSound().then(
        () => undefined,
        (error: unknown) => ({
          message: reasonOf(error),
          remedy: `put the records right by hand; those of before are in ${copy.folder}`,
        }),
      );
    },
    lockHolder,
    hashPins: async () => (await import('./hash-pins.ts')).findHashPins(installation),
  };
}
