import fc from 'fast-check';
import { Hono } from 'hono';
import { expect, test } from 'vitest';

import { canonicalAddress } from '../../src/config/ip-address.ts';
import { calledAddress, clientOf, isBehindTls, isFirstHand } from '../../src/http/peer.ts';
import { addressWords, dotted, isMapped, spellingOf } from './address-spellings.ts';

interface Described {
  address: string;
  via: 'unix' | 'loopback' | 'network';
  isBehindTls: boolean;
  isFirstHand: boolean;
}

const LISTENER = { address: (): object => ({ address: '0.0.0.0', port: 8728, family: 'IPv4' }) };
const UNIX_LISTENER = { address: () => '/run/depotd.sock' };

/** What is told of a request that came over such a connection. */
async function describePeer(
  socket: object | undefined,
  headers: Record<string, string> = {},
): Promise<Described> {
  const app = new Hono();
  app.get('/', (context) =>
    context.json({
      ...clientOf(context),
      isBehindTls: isBehindTls(context),
      isFirstHand: isFirstHand(context),
    }),
  );
  return (await (
    await app.request('/', { headers }, { incoming: { socket } })
  ).json()) as Described;
}

test.for([
  ['127.0.0.1', '127.0.0.1', 'loopback'],
  ['127.1.2.3', '127.1.2.3', 'loopback'],
  ['::1', '::1', 'loopback'],
  ['::ffff:127.0.0.1', '127.0.0.1', 'loopback'],
  ['::ffff:192.0.2.1', '192.0.2.1', 'network'],
  ['192.0.2.127', '192.0.2.127', 'network'],
  ['2001:db8::1', '2001:db8::1', 'network'],
  ['fe80::1%lo', 'fe80::1%lo', 'network'],
] as const)(
  'a connection from %s is told by that address',
  async ([remoteAddress, address, via]) => {
    expect(await describePeer({ remoteAddress, server: LISTENER })).toMatchObject({
      address,
      via,
      isFirstHand: via === 'loopback',
    });
  },
);

test('a unix socket is told by its listener', async () => {
  expect(await describePeer({ server: UNIX_LISTENER })).toMatchObject({
    address: 'unix',
    via: 'unix',
    isFirstHand: true,
  });
});

test.for([
  ['a TCP connection that has gone', { server: LISTENER }],
  ['a connection whose listener has gone', { server: { address: (): null => null } }],
  ['a connection without listener', {}],
  ['no connection', undefined],
] as const)('%s is not on this host', async ([, socket]) => {
  expect(await describePeer(socket, { 'x-forwarded-proto': 'https' })).toEqual({
    address: 'unknown',
    via: 'network',
    isForwarded: false,
    isBehindTls: false,
    isFirstHand: false,
  });
});

test('only a proxy on this host can say that the browser came over TLS', async () => {
  const headers = { 'x-forwarded-proto': 'https' };

  expect(
    await describePeer({ remoteAddress: '127.0.0.1', server: LISTENER }, headers),
  ).toMatchObject({
    isBehindTls: true,
    isFirstHand: false,
  });
  expect(
    await describePeer({ remoteAddress: '192.0.2.1', server: LISTENER }, headers),
  ).toMatchObject({
    isBehindTls: false,
  });
});

test.for([
  [{ 'x-forwarded-for': '192.0.2.7' }, '192.0.2.7'],
  [{ 'x-forwarded-for': '198.51.100.1, 2001:db8::7' }, '2001:db8::7'],
  [{ forwarded: 'for=198.51.100.1, for="[2001:db8::7]:80"' }, '2001:db8::7'],
  [{ 'x-forwarded-for': 'unknown' }, 'unknown'],
] as const)(
  'who hands a request on from this host is believed whose it is: %j',
  async ([headers, address]) => {
    expect(await describePeer({ server: UNIX_LISTENER }, headers)).toMatchObject({
      address,
      via: 'unix',
      isForwarded: true,
    });
    expect(
      await describePeer({ remoteAddress: '127.0.0.1', server: LISTENER }, headers),
    ).toMatchObject({ address, via: 'loopback', isForwarded: true });
    expect(
      await describePeer({ remoteAddress: '192.0.2.1', server: LISTENER }, headers),
    ).toMatchObject({ address: '192.0.2.1', via: 'network', isForwarded: false });
  },
);

test('every way to write the address of a client in X-Forwarded-For names the same client', async () => {
  const spelling = addressWords.chain((words) =>
    fc.tuple(fc.constant(words), spellingOf(words), fc.constantFrom('', ':8080')),
  );
  await fc.assert(
    fc.asyncProperty(spelling, fc.boolean(), async ([words, text, port], isBracketed) => {
      const plain = isMapped(words) ? dotted(words) : canonicalAddress(text);
      const isIPv6 = text.includes(':');
      const named = isIPv6 && (isBracketed || port !== '') ? `[${text}]${port}` : `${text}${port}`;
      const headers = { 'x-forwarded-for': `198.51.100.1, ${named}` };
      const { address } = await describePeer({ server: UNIX_LISTENER }, headers);
      expect(address).toBe(plain);
    }),
    { numRuns: 300 },
  );
});

test.for([
  ['by="192.0.2.1"', '192.0.2.1'],
  ['for=198.51.100.1;by=192.0.2.1:80;proto=http', '192.0.2.1'],
  ['by="[2001:db8::1]:80"', '2001:db8::1'],
  ['by="2001:db8::1"', '2001:db8::1'],
  ['by="::ffff:192.0.2.1"', '192.0.2.1'],
  ['by=198.51.100.1, for=198.51.100.2;by="192.0.2.1:80"', '192.0.2.1'],
  ['by=198.51.100.1, for=198.51.100.2', '127.0.0.1'],
  ['by=router.lan', '127.0.0.1'],
  ['host=192.0.2.1', '127.0.0.1'],
  [undefined, '127.0.0.1'],
] as const)(
  'a program on this host names the address that its client called: %s',
  ([forwarded, address]) => {
    const [local, remote] = [
      { server: LISTENER, localAddress: '127.0.0.1', remoteAddress: '127.0.0.1' },
      { server: LISTENER, localAddress: '192.0.2.9', remoteAddress: '192.0.2.2' },
    ];

    expect(calledAddress(local, forwarded)).toBe(address);
    expect(calledAddress({ server: UNIX_LISTENER }, forwarded)).toBe(
      address === '127.0.0.1' ? undefined : address,
    );
    expect(calledAddress(remote, forwarded)).toBe('192.0.2.9');
  },
);
