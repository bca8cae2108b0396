import type { FeedPackage } from '../../device/feed-index.ts';

const MENU = '/usr/share/luci/menu.d';

/** As OpenWrt's feed `luci` has its applications, with what they need. */
export const LUCI_PACKAGES: FeedPackage[] = [
  plain('luci-base', 'LuCI core libraries'),
  plain('luci-i18n-base-zh-cn', 'LuCI - 中文', 'luci-base'),
  plain('luci-i18n-base-de', 'LuCI - Deutsch', 'luci-base'),
  {
    ...plain('luci-app-transmission', 'LuCI Support for Transmission', 'luci-base, transmission'),
    files: {
      [`${MENU}/luci-app-transmission.json`]: JSON.stringify({
        'admin/services/transmission/more': page('More'),
        'admin/services/transmission': page('Transmission Client'),
      }),
    },
  },
  plain('luci-i18n-transmission-zh-cn', '翻译', 'luci-app-transmission'),
  plain('luci-i18n-transmission-de', 'Übersetzung', 'luci-app-transmission'),
  {
    ...plain('transmission', 'Fetches and shares files with others.', 'libwanted'),
    files: { '/etc/init.d/transmission': '#!/bin/sh\n' },
  },
  plain('libwanted', 'A library'),
  {
    ...plain('luci-app-oldie', 'Provides Web UI for old things, with a sentence.', 'luci-base'),
    files: {
      '/usr/lib/lua/luci/controller/old_things.lua': [
        'module("luci.controller.old_things", package.seeall)',
        'function index()',
        '  entry({"admin", "services", "oldthings"}, cbi("oldthings"), _("Old Things"), 60)',
        'end',
      ].join('\n'),
    },
  },
  plain('luci-app-adblock-fast', 'AdBlock Fast Web UI', 'luci-base'),
  plain('luci-app-hd-idle', 'Spins down disks that nobody uses, after a while.', 'luci-base'),
  // An app of a meta package stands for its page.
  plain('luci-app-cleaner', 'LuCI support for Cleaner', 'luci-base'),
  plain('app-meta-cleaner', 'Cleaner', 'luci-app-cleaner'),
  plain('luci-app-odd', 'LuCI support for Odd', 'luci-base'),
  plain('app-meta-even', 'Even', 'luci-app-odd'),
  plain('kmod-tun', 'A module'),
  plain('tunnel-dev', 'Headers'),
];

function plain(name: string, Description: string, depends?: string): FeedPackage {
  const fields = { Description, ...(depends !== undefined && { Depends: depends }) };
  return { name, version: '1.0-1', architecture: 'all', fields };
}

function page(title: string): object {
  return { title, order: 1, action: { type: 'view', path: 'x' } };
}
