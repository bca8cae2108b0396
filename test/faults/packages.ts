import type { FeedPackage } from '../device/feed-index.ts';
import { libraryPackage, program, simplePackage } from '../device/packages/package-parts.ts';
import type { FeedVersion } from '../device/packages/packages.ts';

/** Lines that each of its scripts prints, numbered, so that a lost or doubled one shows. */
export const NUMBERED_LINES = 30;

/** The app that the jobs of a try work on, and what is installed beside them. */
export function faultPackages(feedVersion: FeedVersion, beginWork: string): FeedPackage[] {
  const version = versionOf(feedVersion);
  return [
    libraryPackage('libnumbered', version),
    {
      name: 'numbered',
      version,
      architecture: 'all',
      fields: { Depends: 'libc, libnumbered', Section: 'utils' },
      files: { '/usr/bin/numbered': program('numbered', version) },
      scripts: {
        postinst: `#!/bin/sh\n${numberedLines('postinst')}`,
        prerm: `#!/bin/sh\n${numberedLines('prerm')}`,
      },
    },
    {
      name: 'app-meta-numbered',
      version,
      architecture: 'all',
      fields: { Depends: 'libc, numbered', Section: 'utils' },
      files: {
        '/usr/lib/opkg/meta/numbered.json': `${JSON.stringify(meta(version))}\n`,
        '/usr/libexec/istorea/numbered.sh': {
          mode: 0o755,
          content: `#!/bin/sh\nsh '${beginWork}' $$\n${numberedLines('autoconf')}`,
        },
      },
    },
    simplePackage('beside'),
    simplePackage('afterwards'),
  ];
}

export function versionOf(feedVersion: FeedVersion): string {
  return feedVersion === 1 ? '1.0-1' : '1.1-1';
}

/** A package that is uploaded, and is in no feed. */
export const UPLOADED = simplePackage('uploaded', {
  scripts: { postinst: `#!/bin/sh\n${numberedLines('postinst')}` },
});

/** A program that is uploaded: it installs the package that lies at the path given. */
export function uploadedProgram(ipkFile: string, root: string): string {
  return `#!/bin/sh\n${numberedLines('run')}exec opkg -o '${root}' --force-postinstall install '${ipkFile}'\n`;
}

function numberedLines(label: string): string {
  return `step=1
while [ $step -le ${NUMBERED_LINES} ]; do
	echo "numbered ${label} $step"
	sleep 0.01
	step=$((step + 1))
done
`;
}

function meta(version: string): object {
  return {
    name: 'numbered',
    title: 'Numbered',
    version: version.split('-')[0],
    release: 1,
    description: 'prints numbers',
    autoconf: ['path'],
    tags: ['tool'],
    depends: ['numbered'],
  };
}
