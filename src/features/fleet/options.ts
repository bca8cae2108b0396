import { isLoopback } from '../../config/ip-address.ts';
import {
  choice,
  filePath,
  integer,
  list,
  serverAddress,
  text,
  type Contradiction,
  type Section,
  type ValuesOf,
} from '../../config/option.ts';
import { isPackageName } from '../../package-management/names.ts';
import { ID_VARIABLES } from './controller-id.ts';

/** What a fleet server may be allowed to do with this device. */
export const ABILITIES = [
  ...['install', 'upgrade', 'downgrade', 'remove', 'run', 'self_upgrade'],
  ...['settings', 'collect', 'reboot', 'token', 'firmware'],
];

const OPTIONS = {
  server: text(
    'address of the fleet server: https://host[:port][/prefix]; empty: none',
    '',
    (value) => (value === '' ? value : addressOf(value)),
  ),
  tenant: text('tenant at the server', 'DEFAULT', tenantName),
  controller_id: text(
    'name of this device at the server, with %mac or %serial for its own; empty: its own id',
    '',
    controllerId,
  ),
  token_file: filePath(
    'file (mode 0600) with "TargetToken TOKEN" or "GatewayToken TOKEN"; a bare one is the former',
  ),
  ca_file: filePath('file with the only certificate authority that counts'),
  cert_file: filePath('file with a client certificate'),
  cert_key_file: filePath('file (mode 0600) with its private key'),
  key_file: filePath('file with a public usign key: only what is signed with it is done'),
  confirm: choice('whether the owner is asked before anything that is not forced', ['auto', 'ask']),
  allow: list('what the server may do', ['install', 'upgrade', 'downgrade'], ability),
  settings: list(
    'what it may change: CONFIG.SECTION.OPTION, or a whole CONFIG.SECTION',
    [],
    settingName,
  ),
  mirrors: list(
    'other hosts that are asked first for the files of actions, without the token',
    [],
    addressOf,
  ),
  download_kib_s: integer(
    'most KiB a second that the files of actions are downloaded with; 0: no limit',
    0,
    [0, 1_048_576],
  ),
  interval_max_s: integer('longest pause between two polls, in seconds', 86_400, [30, 86_400]),
  reach_s: integer(
    'within which the server has to answer once settings were changed, or they go back, in seconds',
    120,
    [1, 3600],
  ),
  limit_s: integer(
    'time that an action may take on the device before it is stopped and put back, in seconds',
    3600,
    [10, 604_800],
  ),
  tags: list('what operators may filter by: KEY=VALUE', [], tag),
  report_apps: choice('whether the server is sent the list of installed apps', ['no', 'yes']),
  report_addresses: choice('whether the server is sent the addresses in networks', ['no', 'yes']),
  report_packages: list('packages whose versions the server is sent', [], packageOption),
  attributes_script: filePath(
    'program that prints further attributes, lines of KEY=VALUE; empty: none',
  ),
  attributes_every_min: integer(
    'shortest time between two looks at what has changed of the attributes, in minutes',
    15,
    [0, 1440],
  ),
};

export type FleetSettings = ValuesOf<typeof OPTIONS>;

/** `config depotd 'fleet'`: the server that rolls out to this device among many. */
export const FLEET_SECTION: Section<typeof OPTIONS> = {
  name: 'fleet',
  options: OPTIONS,
  files: ['token_file', 'ca_file', 'cert_file', 'cert_key_file', 'key_file'],
  contradictions: ({ server, token_file: token, cert_file: cert, cert_key_file: key }) => {
    const found: Contradiction[] = [];
    if (server !== '' && token === '' && cert === '') {
      found.push({
        options: ['token_file', 'server'],
        message: 'cannot use fleet.server without fleet.token_file or fleet.cert_file',
      });
    }
    if ((cert === '') !== (key === '')) {
      found.push({
        options: ['cert_key_file', 'cert_file'],
        message: 'cannot use one of fleet.cert_file and fleet.cert_key_file without the other',
      });
    }
    return found;
  },
};

function addressOf(value: string): string {
  return serverAddress(value, isSafe);
}

/** Without TLS anybody on the way is root on this device, so that only this host may be so. */
function isSafe({ protocol, hostname }: URL): boolean {
  if (protocol === 'https:') return true;
  const host = hostname.replace(/^\[|\]$/g, '');
  return protocol === 'http:' && (host === 'localhost' || isLoopback(host));
}

function tenantName(value: string): string {
  if (/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,39}$/.test(value)) return value;
  throw new Error('at most 40 letters, digits and . _ - are expected');
}

/** Fewer characters than the server allows: it must be the same in a path, escaped or not. */
function controllerId(value: string): string {
  const plain = ID_VARIABLES.reduce((id, variable) => id.replaceAll(variable, 'x'), value);
  if (value === '' || /^[A-Za-z0-9_-][A-Za-z0-9._:-]{0,127}$/.test(plain)) return value;
  throw new Error('at most 128 letters, digits and . _ : - are expected, and %mac or %serial');
}

function ability(value: string): string {
  if (ABILITIES.some((name) => name === value)) return value;
  throw new Error(`one of ${ABILITIES.join(', ')} is expected`);
}

function settingName(value: string): string {
  if (/^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_]+){1,2}$/.test(value)) return value;
  throw new Error('CONFIG.SECTION.OPTION or CONFIG.SECTION is expected');
}

function packageOption(value: string): string {
  if (isPackageName(value)) return value;
  throw new Error('the name of a package is expected');
}

function tag(value: string): string {
  if (/^[A-Za-z0-9_.-]{1,64}=[^\0-\x1f<>]{0,128}$/.test(value)) return value;
  throw new Error('KEY=VALUE is expected, with at most 128 characters of a value');
}
