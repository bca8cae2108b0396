import { describe, expect, test } from 'vitest';

import { readConfig } from '../../src/config/config.ts';
import { MAIN_SECTION } from '../../src/config/options.ts';
import { SECTIONS } from '../../src/features.ts';

interface Values {
  good: string[];
  bad: string[];
}

const PATHS: Values = {
  good: ['/', '/etc/depotd', '/mnt/sda1/a b', '/ünï'],
  bad: ['', 'etc', './etc', '/etc/', '//etc', '/etc/../x', '/etc/.', '/a\nb', '/a\0b'],
};
const OPTIONAL_PATHS: Values = {
  good: ['', ...PATHS.good],
  bad: PATHS.bad.filter((value) => value !== ''),
};
const URL_PATHS: Values = {
  good: ['/cgi-bin/panel', '/a', '/a.b/~c-d_e'],
  bad: ['', '/', 'a', '/a/', '/a//b', '/../a', '/a/./b', '/a b', '/a?b', '/a#b', '/a%41', '/ä'],
};
const TEXTS: Values = { good: ['', 'start', '--option=a b', '$(id)'], bad: [] };

function numbers(least: number, most: number): Values {
  return {
    good: [String(least), String(most)],
    bad: [
      String(least - 1),
      String(most + 1),
      '',
      '-1',
      '1.5',
      '1e2',
      ' 1',
      '0x10',
      'many',
      '99999999999',
    ],
  };
}

function choices(...good: string[]): Values {
  return { good, bad: ['', 'other', `${good[0] ?? ''} `, (good[0] ?? '').toUpperCase()] };
}

const VALUES: Record<string, Values> = {
  'main.listen': {
    good: [
      '127.0.0.1:0',
      '127.0.0.1:65535',
      'localhost:8728',
      '[::1]:8728',
      'unix:/run/depotd.sock',
      `unix:/${'a'.repeat(106)}`,
    ],
    bad: [
      '',
      '127.0.0.1',
      ':80',
      '127.0.0.1:65536',
      '127.0.0.1:-1',
      '127.0.0.1:http',
      '::1:80',
      '[::1]',
      '[::1:80',
      'unix:',
      'unix:run',
      `unix:/${'a'.repeat(107)}`,
      'http://127.0.0.1:80',
      'a b:80',
    ],
  },
  'main.owner_socket': {
    good: ['', '/run/depotd/owner.sock', `/${'a'.repeat(106)}`],
    bad: ['owner.sock', 'unix:/run/owner.sock', '/run/../owner.sock', `/${'a'.repeat(107)}`],
  },
  'main.base': URL_PATHS,
  'main.auth': choices('panel', 'password', 'none'),
  'main.istore_paths': numbers(0, 1),
  'main.hosts': {
    good: ['router.lan', 'Router.lan:8080', '10.0.0.1', '[fe80::1]', '[fe80::1]:80'],
    bad: ['', '*', 'a b', 'http://router.lan', 'router.lan/', 'router:port', 'fe80::1'],
  },
  'main.root': PATHS,
  'main.state_dir': PATHS,
  'main.log_dir': PATHS,
  'main.upload_dir': PATHS,
  'main.upload_max_mb': numbers(1, 1_048_576),
  'main.keep_jobs': numbers(1, 100_000),
  'main.undo_mb': numbers(0, 1_048_576),
  'main.queue_max': numbers(1, 20_000),
  'main.keep_log_mb': numbers(1, 1_048_576),
  'main.idle_exit_min': numbers(0, 525_600),
  'main.log_format': choices('auto', 'json', 'text'),
  'main.log_level': choices('info', 'trace', 'debug', 'warn', 'error', 'fatal', 'silent'),
  'packages.manager': choices('auto', 'opkg'),
  'packages.update_every_h': numbers(0, 8760),
  'backup.after_upgrade': numbers(0, 1),
  'container.engine': choices('auto', 'procd', 'systemd'),
  'container.start': TEXTS,
  'container.stop': TEXTS,
  'container.socket': PATHS,
  'forge.upstream': {
    good: [
      '',
      'https://forge.example',
      'https://forge.example:3000',
      'http://10.0.0.1:3000/git',
      'https://[fe80::1]/git',
    ],
    bad: [
      'forge.example',
      '//forge.example',
      'ftp://forge.example',
      'https://user:word@forge.example',
      'https://forge.example?a',
      'https://forge.example/#a',
      'https://',
      'javascript:1',
    ],
  },
  'forge.path': URL_PATHS,
  'forge.expose': choices('documented', 'all'),
  'forge.token_file': OPTIONAL_PATHS,
  'forge.ca_file': OPTIONAL_PATHS,
  'forge.connect_timeout_s': numbers(1, 3600),
  'forge.first_byte_timeout_s': numbers(1, 86_400),
  'forge.idle_timeout_s': numbers(1, 86_400),
  'fleet.server': {
    // Others need fleet.token_file beside them: test/features/fleet has those.
    good: [''],
    bad: [
      'fleet.example',
      'ftp://fleet.example',
      'http://fleet.example',
      'http://10.0.0.1',
      'https://user:word@fleet.example',
      'https://fleet.example?a',
      'https://fleet.example/#a',
      'https://',
      'javascript:1',
    ],
  },
  'fleet.tenant': {
    good: ['DEFAULT', 'school-7', 'a.b_c'],
    bad: ['', '.', '../a', 'a/b', 'a b', 'a'.repeat(41)],
  },
  'fleet.controller_id': {
    good: ['', 'router-7', '00:11:22:33:44:55', 'a'.repeat(128)],
    bad: ['.', '../a', 'a/b', 'a b', 'a?b', 'ä', 'a'.repeat(129)],
  },
  'fleet.token_file': OPTIONAL_PATHS,
  'fleet.ca_file': OPTIONAL_PATHS,
  'fleet.cert_file': { good: [''], bad: OPTIONAL_PATHS.bad },
  'fleet.cert_key_file': { good: [''], bad: OPTIONAL_PATHS.bad },
  'fleet.key_file': OPTIONAL_PATHS,
  'fleet.confirm': choices('auto', 'ask'),
  'fleet.allow': choices(
    ...['install', 'upgrade', 'downgrade', 'remove', 'run', 'self_upgrade', 'settings'],
    ...['collect', 'reboot', 'token'],
  ),
  'fleet.settings': {
    good: ['network.lan.mtu', 'my-app.main.url', 'wireless.guest'],
    bad: ['', 'network', 'network.@interface[0].mtu', '../a.b.c', 'a.b.c.d'],
  },
  'fleet.mirrors': {
    good: ['https://mirror.example/fleet', 'http://127.0.0.1:8080'],
    bad: ['', 'http://mirror.example', 'https://user:word@mirror.example'],
  },
  'fleet.download_kib_s': numbers(0, 1_048_576),
  'fleet.interval_max_s': numbers(30, 86_400),
  'fleet.reach_s': numbers(1, 3600),
  'fleet.limit_s': numbers(10, 604_800),
  'fleet.tags': { good: ['ring=canary', 'site=', 'a.b-c=ä ö'], bad: ['', 'ring', '=a', 'a b=c'] },
  'fleet.report_apps': choices('no', 'yes'),
  'fleet.report_addresses': choices('no', 'yes'),
  'fleet.report_packages': { good: ['dnsmasq', 'kmod-usb.core'], bad: ['', '-x', 'a b', 'a/b'] },
  'fleet.attributes_script': OPTIONAL_PATHS,
  'fleet.attributes_every_min': numbers(0, 1440),
};

test('every option has its good and bad values here', () => {
  const names = [MAIN_SECTION, ...SECTIONS].flatMap((section) =>
    Object.keys(section.options).map((name) => `${section.name}.${name}`),
  );
  expect(Object.keys(VALUES).sort()).toEqual(names.sort());
});

describe.each(Object.entries(VALUES))('%s', (option, { good, bad }) => {
  test.each(good)('takes %j', (value) => {
    expect(problemsOf(`${option}=${value}`)).toEqual([]);
  });

  test.each([...new Set(bad)])('refuses %j and says so', (value) => {
    expect(problemsOf(`${option}=${value}`)).toEqual([
      expect.stringMatching(new RegExp(`^--set: cannot use ${option} ".*": .+`, 's')),
    ]);
  });
});

test('without any setting every option has its default', () => {
  expect(readConfig({ file: '/dev/null', overrides: [] }, SECTIONS)).toEqual({
    problems: [],
    warnings: [],
    config: {
      main: {
        listen: ['127.0.0.1:8728'],
        owner_socket: '/var/run/depotd/owner.sock',
        base: '/cgi-bin/panel',
        auth: 'panel',
        istore_paths: 0,
        hosts: [],
        root: '/',
        state_dir: '/etc/depotd',
        log_dir: '/var/log/depotd',
        upload_dir: '/tmp/depotd',
        upload_max_mb: 1024,
        keep_jobs: 100,
        undo_mb: 64,
        queue_max: 2000,
        keep_log_mb: 32,
        idle_exit_min: 0,
        log_format: 'auto',
        log_level: 'info',
      },
      packages: { manager: 'auto', update_every_h: 0 },
      backup: { after_upgrade: 0 },
      container: { engine: 'auto', start: [], stop: [], socket: '/var/run/docker.sock' },
      forge: {
        upstream: '',
        path: '/api/v1',
        expose: 'documented',
        token_file: '',
        ca_file: '',
        connect_timeout_s: 10,
        first_byte_timeout_s: 120,
        idle_timeout_s: 60,
      },
      fleet: {
        server: '',
        tenant: 'DEFAULT',
        controller_id: '',
        token_file: '',
        ca_file: '',
        cert_file: '',
        cert_key_file: '',
        key_file: '',
        confirm: 'auto',
        allow: ['install', 'upgrade', 'downgrade'],
        settings: [],
        mirrors: [],
        download_kib_s: 0,
        interval_max_s: 86_400,
        reach_s: 120,
        limit_s: 3600,
        tags: [],
        report_apps: 'no',
        report_addresses: 'no',
        report_packages: [],
        attributes_script: '',
        attributes_every_min: 15,
      },
    },
  });
});

function problemsOf(...overrides: string[]): string[] {
  return readConfig({ file: '/dev/null', overrides }, SECTIONS).problems;
}
