import type { PackageBackend } from '../manager.ts';

/** apk 3. The rest of this folder is loaded on a device that has it: elsewhere it costs 1.6 MB. */
export const APK: PackageBackend = {
  name: 'apk',
  record: '/lib/apk/db/installed',
  programs: ['/usr/bin/apk', '/sbin/apk', '/bin/apk', '/usr/sbin/apk'],
  create: async (context) => (await import('./create-apk.ts')).createApk(context),
};
