import type { IncomingMessage, ServerResponse } from 'node:http';

import { createIpk } from '../../device/ipk.ts';
import { simplePackage } from '../../device/packages/package-parts.ts';
import type { PublishedModule } from './fleet-server.ts';
import { ipk, moduleOf, planOf } from './fleet-device.ts';

type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean;
type Rewrite = (path: string, body: unknown) => unknown;

/** One way of a server to lie, and what the device says of it. */
export interface Lie {
  name: string;
  /** In the error of the poll, or in what the action was closed with. */
  says: RegExp;
  /** Default: one good package. */
  modules?: readonly PublishedModule[];
  intercept?: Intercept;
  rewrite?: Rewrite;
}

/** Where nothing may be asked for, and least of all with the token. */
export const THIEF = { url: '' };

const GOOD = moduleOf(ipk('lie'));
const isPoll = (request: IncomingMessage): boolean =>
  /\/controller\/v1\/[^/]+$/.test(request.url ?? '');
const isDownload = (request: IncomingMessage): boolean =>
  request.url?.includes('/artifacts/') === true;

/** Answers polls, or downloads, itself. */
function instead(
  isMeant: (request: IncomingMessage) => boolean,
  answer: (response: ServerResponse) => void,
): Intercept {
  return (request, response) => {
    if (!isMeant(request)) return false;
    answer(response);
    return true;
  };
}

function poll(body: unknown): Rewrite {
  return (path, content) => (path === '' ? body : content);
}

/** The text of the answer for the action, changed. */
function deployment(change: (text: string) => string): Rewrite {
  return (path, content) =>
    path.startsWith('deploymentBase') && content !== undefined
      ? (JSON.parse(change(JSON.stringify(content))) as unknown)
      : content;
}

function link(href: () => string): Rewrite {
  return (path, content) => {
    const { _links: links } = (content ?? {}) as { _links?: { deploymentBase?: object } };
    if (path !== '' || links?.deploymentBase === undefined) return content;
    return { ...(content as object), _links: { deploymentBase: { href: href() } } };
  };
}

const plan = (content: unknown): { modules: PublishedModule[] } => ({
  modules: [planOf(content as object)],
});

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
const MIB = 1024 ** 2;

export const LIES: readonly Lie[] = [
  {
    name: 'a poll that is no JSON',
    says: /the answer: /,
    intercept: instead(isPoll, (response) => response.end('<html>log in</html>')),
  },
  {
    name: 'a poll that is a list',
    says: /_links|Invalid|Expected/,
    rewrite: poll([{ _links: 1 }]),
  },
  { name: 'a poll with links of numbers', says: /_links/, rewrite: poll({ _links: 7 }) },
  {
    name: 'a poll of 8 MiB',
    says: /more than 65536 bytes/,
    intercept: instead(isPoll, (response) => response.end(Buffer.alloc(8 * MIB, ' '))),
  },
  {
    name: 'a poll that never ends',
    says: /more than 65536 bytes/,
    intercept: instead(isPoll, (response) => {
      const send = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, ' ')));
        if (!response.destroyed) response.once('drain', send);
      };
      send();
    }),
  },
  {
    name: 'a poll nested 30,000 levels deep',
    says: /the answer: /,
    intercept: instead(isPoll, (response) => response.end(nested(30_000))),
  },
  {
    name: 'an interval that is no time',
    says: /config\.polling\.sleep/,
    rewrite: poll({ config: { polling: { sleep: '99:99:99' } } }),
  },
  {
    name: 'a redirect of the poll to another host',
    says: /answered 302/,
    intercept: instead(isPoll, (response) =>
      response.writeHead(302, { location: THIEF.url }).end(),
    ),
  },
  {
    name: 'headers of 64 KiB',
    says: /Header|Parse|overflow/i,
    intercept: instead(isPoll, (response) =>
      response.writeHead(200, { 'x-long': 'x'.repeat(65_000) }).end('{}'),
    ),
  },
  {
    name: 'bytes that are no HTTP',
    says: /Parse|Expected|HPE|hang up/i,
    intercept: instead(isPoll, (response) => response.socket?.end('nonsense\r\n\r\n')),
  },
  {
    name: 'a link that is no address',
    says: /no path|names no action/,
    rewrite: link(() => 'javascript:deploymentBase/1'),
  },
  {
    name: 'a link with a name that is no id',
    says: /names no action/,
    rewrite: link(() => `/DEFAULT/controller/v1/x/deploymentBase/..%2f..%2fx`),
  },
  {
    name: 'a link to another host',
    says: /answered 404|answered 401|answered 500/,
    rewrite: link(() => `${THIEF.url}/x/controller/v1/x/deploymentBase/1`),
  },
  {
    name: 'an action that is another one',
    says: /the answer is of other/,
    rewrite: deployment((text) => text.replace(/"id":"\d+"/, '"id":"other"')),
  },
  {
    name: 'a file without SHA-256',
    says: /sha256/,
    rewrite: deployment((text) => text.replace(/"sha256":"[0-9a-f]+",?/, '').replace(',}', '}')),
  },
  {
    name: 'a SHA-256 that is a path',
    says: /sha256/,
    rewrite: deployment((text) => text.replace(/"sha256":"[0-9a-f]+"/, '"sha256":"../../x"')),
  },
  {
    name: 'content of another SHA-256',
    says: /its SHA-256 is/,
    rewrite: deployment((text) =>
      text.replace(/"sha256":"[0-9a-f]+"/, `"sha256":"${'0'.repeat(64)}"`),
    ),
  },
  {
    name: 'more bytes than announced',
    says: /bytes announced/,
    rewrite: deployment((text) => text.replace(/"size":\d+/, '"size":10')),
  },
  {
    name: 'fewer bytes than announced',
    says: /ended after/,
    rewrite: deployment((text) => text.replace(/"size":\d+/, '"size":100000')),
  },
  {
    name: 'a file of a terabyte',
    says: /main\.upload_max_mb/,
    rewrite: deployment((text) => text.replace(/"size":\d+/, '"size":1000000000000')),
  },
  {
    name: 'a size below zero',
    says: /size/,
    rewrite: deployment((text) => text.replace(/"size":\d+/, '"size":-1')),
  },
  {
    name: 'a download link to another host',
    says: /answered (?:404|500|401)/,
    rewrite: deployment((text) => text.replace(/"href":"[^"]+"/, `"href":"${THIEF.url}/file"`)),
  },
  {
    name: 'a redirect of the download to another host',
    says: /answered 302/,
    intercept: instead(isDownload, (response) =>
      response.writeHead(302, { location: THIEF.url }).end(),
    ),
  },
  {
    name: 'a file that is no package',
    says: /cannot install lie\.ipk/,
    modules: [{ files: { 'lie.ipk': Buffer.from('garbage') } }],
  },
  {
    name: 'a package that unpacks outside of the root',
    says: /outside of its place/,
    modules: [moduleOf(createIpk({ ...simplePackage('lie'), files: { '/../../escape': 'x' } }))],
  },
  {
    name: 'a package that is depotd itself',
    says: /by "self_upgrade" alone/,
    modules: [moduleOf(ipk('depotd', { version: '9' }))],
  },
  {
    name: 'two files of one package',
    says: /two of its files are lie/,
    modules: [moduleOf(ipk('lie')), moduleOf(ipk('lie', { version: '2' }))],
  },
  {
    name: 'a file of a kind that nobody knows',
    says: /ends neither in/,
    modules: [{ files: { 'lie.exe': Buffer.from('MZ') } }],
  },
  {
    name: 'a program, which is not allowed',
    says: /does not have "run"/,
    modules: [{ files: { 'lie.run': Buffer.from('#!/bin/sh\n: > /tmp/lie-was-here\n') } }],
  },
  { name: 'a plan of another version', says: /depotd\.plan.*version/, ...plan({ version: 2 }) },
  {
    name: 'a plan with a member that nobody knows',
    says: /depotd\.plan.*shell/,
    ...plan({ version: 1, install: ['tiny-01'], shell: 'reboot' }),
  },
  {
    name: 'a plan that names an option of the package manager',
    says: /depotd\.plan.*install/,
    ...plan({ version: 1, install: ['--force-removal-of-essential-packages'] }),
  },
  {
    name: 'a plan that removes, which is not allowed',
    says: /does not have "remove"/,
    ...plan({ version: 1, remove: ['libc'] }),
  },
  {
    name: 'a plan with a setting that is not on the list',
    says: /does not have "dropbear\.main\.Port"/,
    ...plan({ version: 1, settings: { 'dropbear.main.Port': '22' } }),
  },
  {
    name: 'a setting of several lines',
    says: /depotd\.plan.*settings/,
    ...plan({ version: 1, settings: { 'app.main.url': "x'\n\toption shell 'y" } }),
  },
  {
    name: 'a plan that is no JSON',
    says: /depotd\.plan/,
    modules: [{ metadata: { 'depotd.plan': '{"version":1' } }],
  },
  {
    name: 'a plan that installs and removes one package',
    says: /installs and removes|does not have "remove"/,
    ...plan({ version: 1, install: ['tiny-01'], remove: ['tiny-01'] }),
  },
  {
    name: 'two plans that set one thing to two values',
    says: /different values/,
    modules: [
      planOf({ version: 1, settings: { 'app.main.url': 'a' } }),
      planOf({ version: 1, settings: { 'app.main.url': 'b' } }),
    ],
  },
  { name: 'a set that holds nothing', says: /has no file/, modules: [{}] },
  {
    name: 'a thousand modules',
    says: /chunks/,
    modules: Array.from({ length: 1000 }, () => ({})),
  },
];

export const GOOD_MODULE = GOOD;
