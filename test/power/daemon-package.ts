import { join } from 'node:path';

import type { FeedPackage } from '../device/feed-index.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { DISK, ROOT } from './locations.ts';

/** depotd as a package of the device: upgraded by itself, started by its own script. */
export const DAEMON = 'depotd';
/** What it runs on. */
export const DAEMON_NODE = 'depotd-node';
export const DAEMON_PORT = 7998;
export const DAEMON_LOG = '/tmp/depotd-log';

const { REPOSITORY = join(import.meta.dirname, '../..') } = process.env;
const PROGRAM = join(REPOSITORY, 'dist/depotd.mjs');
/** For how long a new version may not answer: the machine is slow. */
const LIMIT_S = 40;
const SERVICE = `/etc/init.d/${DAEMON}`;
const SETTINGS = `/etc/config/${DAEMON}`;
const NODE = '/usr/lib/depotd/node';

/** Where the machine's own Node is (init.sh). */
const NODE_OF_MACHINE = '/run/node';

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
    fields: { Depends: DAEMON_NODE },
    files: {
      '/usr/sbin/depotd': {
        mode: 0o755,
        content: `#!/bin/sh\n# ${version}\nexec ${ROOT}${NODE} ${PROGRAM} --config ${ROOT}${SETTINGS} ${words}\n`,
      },
      [SERVICE]: {
        mode: 0o755,
        content: `#!/bin/sh\n${STOP_DAEMON}[ "$1" != stop ] || exit 0\n${START_DAEMON}`,
      },
      [SETTINGS]: `# as it came\n`,
      '/lib/upgrade/keep.d/depotd': '/etc/depotd/\n',
    },
    conffiles: [SETTINGS],
    scripts: { postinst: `#!/bin/sh\nsh ${ROOT}${SERVICE} restart\n` },
  };
}

export function nodePackage(version: FeedVersion): FeedPackage {
  const content = `#!/bin/sh\n# ${version}\nexec ${NODE_OF_MACHINE} "$@"\n`;
  return {
    name: DAEMON_NODE,
    version: `${version}.0-1`,
    architecture: 'all',
    files: { [NODE]: { mode: 0o755, content } },
  };
}

/** As a service manager does, which waits until it has ended. */
const STOP_DAEMON = `if [ -f /tmp/depotd.pid ] && kill "$(cat /tmp/depotd.pid)" 2>/dev/null; then
	tries=0
	while kill -0 "$(cat /tmp/depotd.pid)" 2>/dev/null && [ "$tries" -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
fi
`;

/** As an init script starts what is installed, in a session of its own. */
export const START_DAEMON = `export PATH="${DISK}/bin:$PATH" DEPOTD_SELF_UPGRADE_LIMIT_S=${LIMIT_S}
unset DEPOTD_JOB
setsid sh -c 'echo $$ >/tmp/depotd.pid; exec ${ROOT}/usr/sbin/depotd' </dev/null >>${DAEMON_LOG} 2>&1 &
`;
