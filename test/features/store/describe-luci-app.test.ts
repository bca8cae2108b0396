import { expect, test } from 'vitest';

import { describeLuciApp } from '../../../src/features/store/luci/luci-app.ts';

/** Descriptions as OpenWrt 24.10's feed `luci` has them. */
test.each([
  {
    subject: 'transmission',
    description: 'LuCI Support for Transmission',
    title: 'Transmission',
    tags: ['downloads'],
  },
  {
    subject: 'banip',
    description: 'LuCI support for banIP',
    title: 'banIP',
    tags: ['ad blocking', 'firewall'],
  },
  {
    subject: 'adblock-fast',
    description: 'AdBlock Fast Web UI',
    title: 'AdBlock Fast',
    tags: ['ad blocking'],
  },
  {
    subject: 'sqm',
    description: 'SQM Scripts - LuCI interface',
    title: 'SQM Scripts',
    tags: ['traffic'],
  },
  { subject: 'zerotier', description: 'LuCI for ZeroTier', title: 'ZeroTier', tags: ['VPN'] },
  {
    subject: 'statistics',
    description: 'LuCI Statistics Application',
    title: 'Statistics',
    tags: ['traffic'],
  },
  {
    subject: 'acl',
    description: 'LuCI account management module',
    title: 'Account management',
    tags: ['firewall'],
  },
  {
    subject: 'https-dns-proxy',
    description: 'DNS Over HTTPS Proxy Web UI',
    title: 'DNS Over HTTPS Proxy',
    tags: ['DNS', 'proxy'],
  },
  {
    subject: 'uhttpd',
    description: 'uHTTPd Webserver Configuration',
    title: 'uHTTPd Webserver',
    tags: ['system'],
  },
  {
    subject: 'snmpd',
    description: 'SNMPd config - LuCI interface',
    title: 'SNMPd',
    tags: ['system'],
  },
])('luci-app-$subject ($description) is called $title', ({ subject, description, title, tags }) => {
  expect(describeLuciApp(subject, description)).toEqual({ title, isTitleAll: true, tags });
});

test.each([
  ['hd-idle', 'Spins down disks that nobody uses, after a while.', 'Hd idle'],
  ['ttyd', 'ttyd - Command-line tool for sharing terminal over the web', 'Ttyd'],
  ['two-lines', 'LuCI support for\n something else', 'Two lines'],
])('luci-app-%s keeps its sentence: %s', (subject, description, title) => {
  expect(describeLuciApp(subject, description)).toMatchObject({ title, isTitleAll: false });
});

test('a description without a word leaves the name', () => {
  expect(describeLuciApp('x', '')).toEqual({ title: 'X', isTitleAll: true, tags: ['system'] });
  expect(describeLuciApp('x', 'LuCI support for ')).toMatchObject({ title: 'X' });
});
