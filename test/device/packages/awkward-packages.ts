import { createCipheriv } from 'node:crypto';

import type { FeedPackage } from '../feed-index.ts';
import { simplePackage } from './package-parts.ts';

/** Packages that fail, clash, take long or talk much, each in one way. */
export function awkwardPackages(): FeedPackage[] {
  return [
    simplePackage('badpost', {
      fields: { Depends: 'libc' },
      scripts: {
        postinst: script(
          'echo "badpost: postinst starts"\necho "badpost: cannot do it" >&2\nexit 3',
        ),
      },
    }),
    simplePackage('needbadpost', { fields: { Depends: 'badpost' } }),
    simplePackage('badpre', {
      scripts: { preinst: script('echo "badpre: preinst says no" >&2\nexit 1') },
    }),
    simplePackage('badprerm', {
      scripts: { prerm: script('echo "badprerm: prerm says no" >&2\nexit 1') },
    }),
    simplePackage('badpostrm', {
      scripts: { postrm: script('echo "badpostrm: postrm says no" >&2\nexit 1') },
    }),
    simplePackage('badsum', { listing: 'wrong-checksum' }),
    simplePackage('gone', { listing: 'no-file' }),
    simplePackage('wrongarch', { architecture: 'mips_24kc' }),
    simplePackage('needmissing', { fields: { Depends: 'does-not-exist' } }),
    simplePackage('verneed', { fields: { Depends: 'libdemo (>= 9.0)' } }),
    simplePackage('conflictor', { fields: { Conflicts: 'libdemo' } }),
    simplePackage('clash', { files: { '/usr/bin/demo-app': 'not the demo\n' } }),
    simplePackage('virt', { fields: { Provides: 'virtual-thing' } }),
    simplePackage('needvirt', { fields: { Depends: 'virtual-thing' } }),
    // A size between 2 and 4 GiB is more than any disk has: opkg keeps it in a signed 32-bit
    // integer.
    simplePackage('toobig', { installedSizeBytes: 3_000_000_000 }),
    simplePackage('recopkg', { scripts: { postinst: script(CALL_OPKG) } }),
    chattyPackage(),
    slowPackage(),
  ];
}

/** The lock is held by the opkg that runs this script. */
const CALL_OPKG = `echo "recopkg: calling opkg inside postinst"
opkg \${IPKG_INSTROOT:+-o "$IPKG_INSTROOT"} list-installed >/dev/null
echo "recopkg: inner opkg rc=$?"`;

/** Its postinst prints so many lines. */
export function chattyPackage(lines = 200_000): FeedPackage {
  return simplePackage('chatty', {
    scripts: { postinst: script(`seq -f "chatty: line %.0f" 1 ${lines}`) },
  });
}

/**
 * Its postinst takes so long, counted from when it prints "slow: postinst begin". Left alone by a
 * killed opkg, it ends soon after its root is removed.
 */
export function slowPackage(seconds = 20): FeedPackage {
  const steps = Math.ceil(seconds * 10);
  const postinst = `echo "slow: postinst begin"
step=0
while [ $step -lt ${steps} ]; do
	[ -d "\${IPKG_INSTROOT}/usr/share" ] || exit 1
	sleep 0.1
	step=$((step + 1))
done
echo "slow: postinst end"`;
  return simplePackage('slow', { scripts: { postinst: script(postinst) } });
}

/** About as large on the way as on the disk: its content does not compress. */
export function largePackage(sizeBytes = 20 * 1024 ** 2): FeedPackage {
  const noise = createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(
    Buffer.alloc(sizeBytes),
  );
  return simplePackage('large', { files: { '/usr/share/large/noise': { content: noise } } });
}

/** tiny-01 … tiny-40; with another count as many digits as it takes. */
export function tinyPackages(count = 40): FeedPackage[] {
  const digits = String(count).length;
  return Array.from({ length: count }, (_, at) =>
    simplePackage(`tiny-${String(at + 1).padStart(digits, '0')}`),
  );
}

function script(body: string): string {
  return `#!/bin/sh\n${body}\n`;
}
