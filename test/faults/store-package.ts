import { DAEMON_PROGRAM } from '../device/daemon-process.ts';
import type { FeedPackage } from '../device/feed-index.ts';
import type { FeedVersion } from '../device/packages/packages.ts';
import { versionOf } from './packages.ts';

/** What a newer version of the daemon does when it is started. */
export type StoreBehaviour = 'answers' | 'ends at once';

/** The program that a service manager starts where the daemon is a package, below the root. */
export const STORE_PROGRAM = 'usr/lib/depotd/depotd.mjs';

/** The daemon as a package; its first version always answers. */
export function storePackage(feedVersion: FeedVersion, behaviour: StoreBehaviour): FeedPackage {
  const version = versionOf(feedVersion);
  const isGood = feedVersion === 1 || behaviour === 'answers';
  const run = isGood ? `import '${DAEMON_PROGRAM}';` : 'process.exit(1);';
  return {
    name: 'depotd',
    version,
    architecture: 'all',
    files: {
      [`/${STORE_PROGRAM}`]: `// depotd ${version}\n${run}\n`,
      [`/usr/share/depotd/${version}`]: version,
      '/etc/config/depotd': `# ${version}\n`,
    },
    conffiles: ['/etc/config/depotd'],
    scripts: { postinst: RESTART },
  };
}

/** By its program, not by a number that is noted a moment later than it runs. */
const RESTART = `#!/bin/sh
kill $(pgrep -f -- "$IPKG_INSTROOT/${STORE_PROGRAM}") 2>/dev/null
exit 0
`;
