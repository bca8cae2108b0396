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
  {
    ...plain('luci-app-shares', 'LuCI support for Shares', 'luci-base'),
    files: {
      '/usr/lib/lua/luci/controller/shares.lua': [
        'entry({"admin", "nas"}, firstchild(), _("NAS") , 45).dependent = false',
        'entry({"admin", "nas", "shares"}, firstchild(), _("Network Shares"), 10)',
        'entry({"admin", "nas", "shares", "users"}, cbi("shares/users"), _("Users"))',
        'entry({"admin", "nas", "shares", "files"}, cbi("shares/files"), _("Files"))',
      ].join('\n'),
    },
  },
  {
    ...plain('luci-app-tunnels', 'LuCI support for Tunnels', 'luci-base'),
    files: {
      [`${MENU}/luci-app-tunnels.json`]: JSON.stringify({
        'admin/vpn': { ...page('VPN'), action: { type: 'firstchild' } },
        'admin/vpn/tunnels': page('Secret Tunnels'),
      }),
    },
  },
  {
    ...plain('luci-app-boxes', 'LuCI support for Boxes', 'luci-base'),
    files: {
      [`${MENU}/luci-app-boxes.json`]: JSON.stringify({
        'admin/docker': { ...page('Boxes of All Kinds'), action: { type: 'firstchild' } },
        'admin/docker/overview': page('Overview'),
        'admin/docker/images': page('Images'),
      }),
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
