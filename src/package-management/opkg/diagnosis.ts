import type { Diagnosis } from '../diagnosis.ts';
import type { Installation } from './installation.ts';

export function createDiagnosis(installation: Installation): Diagnosis {
  const { statusCopy, statusFile, lockFile, lockHolder, read } = installation;
  return {
    findDamage: async () => {
      // While opkg writes it, the file is short.
      if ((await lockHolder()) !== undefined) return undefined;
      if ((await statusCopy.intact()) === undefined) {
        return {
          message: `opkg's record of packages, ${statusFile}, is damaged`,
          remedy: 'begin any package task, such as an update of the lists: it puts the copy back',
        };
      }
      if ((await read()).size > 0) return undefined;
      return {
        message: `opkg has no package on record in ${statusFile}`,
        remedy: 'put the file back from a backup, or install the firmware again',
      };
    },
    lockFile,
    lockHolder,
  };
}
