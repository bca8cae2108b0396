import { createHash } from 'node:crypto';
import { request, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';

import { expect, test } from 'vitest';

import { sharePanel } from './start-panel.ts';

const open = sharePanel();
const withPassword = sharePanel({}, { set: ['main.auth=password'] });

test('the page is served with a policy that lets only its own script and style run', async () => {
  const daemon = open();

  const page = await daemon.get('');
  const html = await page.text();

  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page.headers.get('content-security-policy')).toBe(
    `default-src 'none'; script-src ${hashOfElement(html, 'script')}; style-src ${hashOfElement(html, 'style')}; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`,
  );
});

test('the page needs nothing from elsewhere, and names no path of its own', async () => {
  const daemon = open();

  const html = await (await daemon.get('')).text();

  const addresses = [...html.matchAll(/\b(?:src|href)="([^"]*)"/g)].map(
    ([, address = '']) => address,
  );
  expect(addresses.filter((address) => !/^(?:#|data:)/.test(address))).toEqual([]);
  expect(html).not.toContain(daemon.base);
  expect(html.match(/https?:\/\/[^'"]+/g)).toEqual(html.match(/http:\/\/www\.w3\.org\/2000\/svg/g));
});

test.each(['', 'admin/login'])(
  'who moves from landmark to landmark gets to everything on "%s"',
  async (path) => {
    const daemon = withPassword();

    const html = await (await daemon.get(path)).text();

    // What stands outside is seen only by who sees the whole page, or opens on top of it.
    const rest = html
      .replaceAll(/<(head|style|script|svg|noscript|header|main|dialog)\b[^]*?<\/\1>/g, '')
      .replaceAll(/<title>.*<\/title>|<a class="skip".*<\/a>|<!--.*?-->/g, '');
    expect(rest.replaceAll(/<[^>]*>/g, '').trim()).toBe('');
    expect(html.match(/<main\b/g)).toHaveLength(1);
  },
);

test('a browser that has the page gets 304, and another tag the page', async () => {
  const daemon = open();
  const etag = (await daemon.get('')).headers.get('etag') ?? '';

  const again = await daemon.get('', { 'if-none-match': etag });
  const other = await daemon.get('', { 'if-none-match': '"another"' });

  expect(again.status).toBe(304);
  expect(await again.text()).toBe('');
  expect(again.headers.get('etag')).toBe(etag);
  expect(again.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(other.status).toBe(200);
});

test('the base without its slash leads to the page, whatever prefix is in front', async () => {
  const daemon = open();

  const answer = await fetch(`${daemon.url}${daemon.base}`, { redirect: 'manual' });

  expect(answer.status).toBe(302);
  expect(answer.headers.get('location')).toBe('panel/');
  expect(new URL('panel/', 'https://router.example/box/cgi-bin/panel').pathname).toBe(
    '/box/cgi-bin/panel/',
  );
});

test.each([
  ['gzip, deflate, br', 'gzip'],
  ['*', 'gzip'],
  ['GZIP;q=0.5', 'gzip'],
  ['gzip;q=0, *', undefined],
  ['identity', undefined],
  ['br', undefined],
  [undefined, undefined],
])('to whoever accepts %s the page is sent as %s', async (accepted, coding) => {
  const { status, headers, body } = await requestPage(accepted);

  expect(status).toBe(200);
  expect(headers['content-encoding']).toBe(coding);
  expect(headers.vary).toBe('Accept-Encoding');
  const html = (coding === undefined ? body : gunzipSync(body)).toString();
  expect(html.startsWith('<!doctype html>')).toBe(true);
  expect(html.trimEnd().endsWith('</html>')).toBe(true);
});

test('the whole page is at most 60 kB on the way, and its two forms have two entity tags', async () => {
  const [compressed, plain] = [await requestPage('gzip'), await requestPage('identity')];

  expect(compressed.body.length).toBeLessThan(60_000);
  expect(compressed.headers.etag).not.toBe(plain.headers.etag);
  expect(gunzipSync(compressed.body).equals(plain.body)).toBe(true);
});

/** The page as it comes, not unpacked. */
function requestPage(accepted: string | undefined): Promise<ReceivedPage> {
  const daemon = open();
  const headers = accepted === undefined ? {} : { 'accept-encoding': accepted };
  return new Promise((resolve, reject) => {
    request(`${daemon.url}${daemon.base}/`, { headers }, (answer) => {
      const pieces: Buffer[] = [];
      answer.on('data', (piece: Buffer) => pieces.push(piece));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode,
          headers: answer.headers,
          body: Buffer.concat(pieces),
        }),
      );
    })
      .on('error', reject)
      .end();
  });
}

interface ReceivedPage {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

function hashOfElement(html: string, tag: string): string {
  const [, content = ''] = new RegExp(`<${tag}[^>]*>([^]*?)</${tag}>`).exec(html) ?? [];
  expect(content.length).toBeGreaterThan(1000);
  return `'sha256-${createHash('sha256').update(content).digest('base64')}'`;
}
