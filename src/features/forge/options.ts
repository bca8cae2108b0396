import {
  basePath,
  choice,
  filePath,
  integer,
  serverAddress,
  text,
  type Section,
  type ValuesOf,
} from '../../config/option.ts';

const OPTIONS = {
  upstream: text('address of the forge: https://host[:port][/prefix]; empty: none', '', (value) =>
    value === '' ? value : serverAddress(value, ({ protocol }) => /^https?:$/.test(protocol)),
  ),
  path: text('API root, here and at the upstream', '/api/v1', basePath),
  expose: choice('documented routes, those and reading, or all below the API root', [
    'documented',
    'read',
    'all',
  ]),
  token_file: filePath("file with the device's own forge token"),
  ca_file: filePath('file with an additional certificate authority'),
  connect_timeout_s: integer('limit for connecting to the forge, in seconds', 10, [1, 3600]),
  first_byte_timeout_s: integer(
    'limit from the request to the first byte of the answer, in seconds',
    120,
    [1, 86_400],
  ),
  idle_timeout_s: integer('limit between two pieces of a body, in seconds', 60, [1, 86_400]),
};

export type ForgeSettings = ValuesOf<typeof OPTIONS>;

/** `config depotd 'forge'`: the code forge behind the device. */
export const FORGE_SECTION: Section<typeof OPTIONS> = {
  name: 'forge',
  options: OPTIONS,
  files: ['token_file', 'ca_file'],
  former: ['cache_mb'],
  doubts: ({ path }, { base }) =>
    doubtOf(path, base).map((message) => ({ options: ['path'], message })),
};

/** Warns of a `forge.path` that covers the panel's own requests: they would go to the forge. */
export function doubtOf(path: string, base: string): string[] {
  const hidesPanel = [path, `${base}${path}`].some((root) => overlap(root, `${base}/admin`));
  return hidesPanel
    ? [`forge.path ${path} with main.base ${base} hides the panel: its requests go to the forge`]
    : [];
}

/** Whether one path is the other one, or lies below it. */
function overlap(one: string, other: string): boolean {
  return `${one}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${one}/`);
}
