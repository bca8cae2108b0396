import { join } from 'node:path';

import type { FeedPackage } from '../device/feed-index.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { DISK, ROOT } from './locations.ts';

/** depotd as a package of the device: upgraded by itself, started by its own script. */
export const DAEMON = 'depotd';
export const DAEMON_PORT = 7998;

const { REPOSITORY = join(import.meta.dirname, '../..') } = process.env;
const PROGRAM = join(REPOSITORY, 'dist/depotd.mjs');
/** For how long a new version may not answer: the machine is slow. */
const LIMIT_S = 40;

export function daemonPackage(version: FeedVersion): FeedPackage {
  const settings = [
    `main.root=${ROOT}`,
    'main.auth=none',
    'main.owner_socket=',
    `main.listen=127.0.0.1:${DAEMON_PORT}`,
  ];
  const words = settings.map((setting) => `--set ${setting}`).join(' ');
  return {
    name: DAEMON,
    version: `${version}.0-1`,
    architecture: 'all',
    files: {
      '/usr/bin/depotd': {
        mode: 0o755,
        content: `#!/bin/sh\n# ${version}\nexec ${process.execPath} ${PROGRAM} --config /dev/null ${words}\n`,
      },
      '/etc/config/depotd': `# as it came\n`,
    },
    conffiles: ['/etc/config/depotd'],
    scripts: {
      postinst: `#!/bin/sh\n[ ! -f /tmp/depotd.pid ] || kill "$(cat /tmp/depotd.pid)" 2>/dev/null\n${START_DAEMON}`,
    },
  };
}

/** As an init script starts what is installed, in a session of its own. */
export const START_DAEMON = `export PATH="${DISK}/bin:$PATH" DEPOTD_SELF_UPGRADE_LIMIT_S=${LIMIT_S}
unset DEPOTD_JOB
setsid sh -c 'echo $$ >/tmp/depotd.pid; exec ${ROOT}/usr/bin/depotd' </dev/null >/dev/null 2>&1 &
`;
