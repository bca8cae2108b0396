import * as v from 'valibot';
import type { PackageManager } from './manager.ts';
import type { PreviewedChange } from './preview.ts';

/** What may cut the owner off when it starts again, or does not. */
export const RESTARTED = ['network', 'wifi', 'firewall', 'dns', 'web', 'ssh'] as const;

export const RESTARTS = v.pipe(
  v.array(v.object({ what: v.picklist(RESTARTED), package: v.string() })),
  v.description('what starts again, so that the change may cut its owner off: see confirm_s'),
);

export type Restart = v.InferOutput<typeof RESTARTS>[number];

/**
 * The start of one of these names, as far as a `*` says, or the whole name. `files`: those, and
 * services, by which a package of another name is known.
 */
const SIGNS: readonly { what: Restart['what']; packages: string; files: string }[] = [
  {
    what: 'network',
    packages:
      'netifd odhcp6c ppp ppp-mod-* swconfig base-files procd* ubus ubusd kmod-dsa* kmod-phy-* ' +
      'kmod-e1000* kmod-igb kmod-igc kmod-r8169 kmod-usb-net*',
    files: '/sbin/netifd /sbin/ifup /sbin/procd /sbin/ubusd /etc/init.d/network /lib/netifd/*',
  },
  {
    what: 'wifi',
    packages:
      'wpad* hostapd* wpa-supplicant* wireless-regdb iwinfo wifi-scripts kmod-mac80211 ' +
      'kmod-cfg80211 kmod-mt7* kmod-ath* kmod-iwl* kmod-rtw* kmod-rtl8* kmod-brcm*',
    files: '/usr/sbin/wpad /usr/sbin/hostapd /usr/sbin/wpa_supplicant /sbin/wifi /etc/init.d/wpad',
  },
  {
    what: 'firewall',
    packages: 'firewall firewall4 nftables* iptables* kmod-nft* kmod-nf-* kmod-ipt-*',
    files: '/sbin/fw3 /sbin/fw4 /usr/sbin/nft /etc/init.d/firewall',
  },
  {
    what: 'dns',
    packages: 'dnsmasq* odhcpd* unbound-daemon* adguardhome bind-server',
    files: '/usr/sbin/dnsmasq /usr/sbin/odhcpd /etc/init.d/dnsmasq /etc/init.d/odhcpd',
  },
  {
    what: 'web',
    packages: 'uhttpd* nginx* lighttpd* rpcd* luci-base depotd*',
    files:
      '/usr/sbin/uhttpd /usr/sbin/nginx /usr/sbin/lighttpd /sbin/rpcd /etc/init.d/uhttpd ' +
      '/etc/init.d/nginx /etc/init.d/rpcd /etc/init.d/depotd',
  },
  {
    what: 'ssh',
    packages: 'dropbear openssh-server*',
    files: '/usr/sbin/dropbear /usr/sbin/sshd /etc/init.d/dropbear /etc/init.d/sshd',
  },
];

function isAmong(text: string, list: string): boolean {
  const isOf = (one: string): boolean =>
    one.endsWith('*') ? text.startsWith(one.slice(0, -1)) : text === one;
  return list.split(' ').some(isOf);
}

/**
 * What changes may cut off: by the names of packages, which is all that is known of what comes, and
 * by the files of what is replaced or goes.
 */
export async function restartsOf(
  { listing }: Pick<PackageManager, 'listing'>,
  changes: readonly Pick<PreviewedChange, 'action' | 'name'>[],
): Promise<Restart[]> {
  const found: Restart[] = [];
  for (const { action, name } of changes) {
    const { files = [] } = action === 'install' ? {} : ((await listing.record(name)) ?? {});
    for (const { what, packages, files: known } of SIGNS) {
      if (isAmong(name, packages) || files.some((file) => isAmong(file, known))) {
        found.push({ what, package: name });
      }
    }
  }
  return found;
}
