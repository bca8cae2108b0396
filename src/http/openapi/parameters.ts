import type { JsonObject } from './schemas.ts';

/** What openapi.json says of a parameter beside the schema that checks it. */
interface ParameterText {
  description: string;
  example?: unknown;
  /** Range of a whole number: a form and an address carry its digits. */
  range?: readonly [minimum: number, maximum: number];
}

const EXAMPLE_ID = '9e107d9d372bb6826bd81d3542a419d6';
const EXAMPLE_TASK = '3f0c9a52d71b48e6a0f5c2d4e8b17a90';

/** By name; `operationId.name` for one that means something else there. */
const TEXTS: Readonly<Record<string, ParameterText>> = {
  advisories: {
    description: 'a list in JSON: what OSV says of packages',
    example: '[{"id":"CVE-2026-0001","name":"curl","ranges":[{"fixed":"8.13.0"}],"versions":[]}]',
  },
  after_upgrade: { description: 'everything comes back by itself after a firmware upgrade' },
  all: { description: 'all what has a newer version, in place of `package`' },
  as: { description: '`new`: on another device, as far as it has what the backup names' },
  asked: { description: 'leaves out what nobody asked for: firmware, dependencies, translations' },
  autoconf: { description: 'configure it, too' },
  backup: { description: 'id of a backup', example: EXAMPLE_ID },
  confirm: { description: 'agree, or decline' },
  confirm_s: {
    description: 'seconds after which the change goes back unless it is confirmed',
    example: 120,
    range: [30, 600],
  },
  enable: { description: 'whether it is switched on' },
  enabled: { description: 'whether packages come from it' },
  every_h: {
    description: 'hours between two fetches by itself from now on; 0: never',
    example: 24,
    range: [0, 8760],
  },
  file: { description: 'id of a file that was sent with hold=1', example: EXAMPLE_ID },
  for: {
    description: 'the address that is to be opened, below main.base',
    example: '/cgi-bin/panel/admin/store/installed',
  },
  hide: { description: 'whether it is hidden' },
  hold: { description: 'keep the file, and wait for install_file or drop_file' },
  hostname: { description: 'under which the caller knows the device', example: 'openwrt.lan' },
  id: { description: 'as the list has it', example: EXAMPLE_ID },
  ignore: { description: 'whether the architecture is passed over' },
  ipv4: { description: 'whether addresses of IPv4 alone are used' },
  key: {
    description: 'the public key that signs its list',
    example: 'untrusted comment: apps\nRWRmYWtlZmFrZWZha2VmYWtlZmFrZWZha2U=\n',
  },
  kind: { description: 'apps, packages, or both' },
  lang: { description: 'a language (BCP 47)', example: 'zh-CN' },
  'logIn.page': { description: 'answers as a form of a page needs them' },
  mirror: {
    description: 'further addresses of the same feed',
    example: ['https://b.example/apps'],
  },
  name: { description: 'as it is listed', example: 'apps' },
  'getIcon.name': { description: 'of an app or a package', example: 'adfilter' },
  offset: { description: 'from this byte on', example: 0, range: [0, 999_999_999_999_999] },
  old: { description: 'the password that was', example: 'correct horse' },
  operation: { description: 'what would be done' },
  overwrite: { description: '`true` replaces what is there, `chdir` uses it as it is' },
  package: { description: 'name of an app or a package', example: 'adfilter' },
  'planChange.package': { description: 'names of apps or packages', example: ['adfilter'] },
  page: { description: 'of the list, from 1 on', example: 1, range: [1, 999_999_999] },
  panel_url: { description: 'with `panel_url` in the answer' },
  password: { description: 'the password', example: 'correct horse battery staple' },
  path: { description: 'a folder or a file on the device', example: '/mnt/data' },
  per_page: { description: 'items on a page; 50 if it is left out', example: 50, range: [1, 200] },
  programs: { description: 'leaves out libraries, kernel modules, translations, headers' },
  proof: {
    description: 'while no password is set: what only root on the device can read',
    example: '3f0c9a52d71b48e6a0f5c2d4e8b17a90',
  },
  purge: { description: 'its data folders and images go, too' },
  q: { description: 'words that all occur in name, title or description', example: 'ads' },
  session: { description: 'id of a session of rpcd, with main.auth panel', example: EXAMPLE_ID },
  sort: { description: 'the order; `relevance` with `q`, else `name`' },
  state: { description: 'which of them' },
  system: { description: 'also what the device stands on' },
  tag: { description: 'a tag of an app, or a section of a feed', example: 'net' },
  task_id: { description: 'id of a task, or `latest`', example: EXAMPLE_TASK },
  theme: { description: '`dark` or `light`', example: 'dark' },
  token: {
    description: 'from GET admin/store/token; may stand in the header X-CSRF-Token instead',
    example: '5d2f7c1e9b3a48d6',
  },
  translations: { description: 'translations for the language of LuCI come with it' },
  type: { description: 'the kind of backup; overlay is none of depotd' },
  uci: { description: 'name of a configuration file', example: 'adfilter' },
  update: {
    description: 'asks the scripts anew; any whole number will do',
    example: 1,
    range: [-999_999_999, 999_999_999],
  },
  upgrades: { description: 'whether packages from it are upgraded' },
  url: { description: 'where its list is', example: 'https://a.example/apps' },
  username: { description: 'a user of the device; `root` if it is left out', example: 'root' },
  with_packages: { description: 'the package files are kept, too' },
};

/** The text for a parameter, beside what its schema says. @param operationId if it is known */
export function parameterText(
  name: string,
  operationId: string | undefined,
): ParameterText | undefined {
  const key = `${operationId ?? ''}.${name}`;
  return Object.hasOwn(TEXTS, key) ? TEXTS[key] : TEXTS[name];
}

/** Digits are a whole number to a client, and yes or no is a boolean, of which 1 and 0 do, too. */
export function asClientsHaveIt(schema: JsonObject, text: ParameterText | undefined): JsonObject {
  const values = Array.isArray(schema.enum) ? schema.enum : [];
  if (values.length > 1 && values.every((value) => BOOLEANS.includes(value))) {
    return { type: ['boolean', 'integer'], minimum: 0, maximum: 1 };
  }
  if (text?.range === undefined) return schema;
  const [minimum, maximum] = text.range;
  return { type: 'integer', minimum, maximum };
}

const BOOLEANS: readonly unknown[] = ['0', '1', 'false', 'true'];
