import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { createUploadDevice, FORM, HEAD, runFile, type UploadDevice } from './upload-device.ts';

let on: UploadDevice;

beforeAll(async () => {
  on = await createUploadDevice({}, { set: ['main.upload_max_mb=1'] });
});

afterAll(() => on.close());

describe('who may upload', () => {
  test.each<[string, { query?: string; headers?: Record<string, string> }, number]>([
    ['nobody in particular', {}, 200],
    ['with a wrong token', { query: '?token=wrong' }, 403],
    ['with an empty token', { query: '?token=' }, 403],
    ['a page of another origin', { headers: { origin: 'http://evil.example' } }, 403],
    ['a page without an origin', { headers: { origin: 'null' } }, 403],
    ['a page of another site', { headers: { 'sec-fetch-site': 'cross-site' } }, 403],
    [
      'a page of the same site on another host',
      { headers: { 'sec-fetch-site': 'same-site' } },
      403,
    ],
    ['a page of ours', { headers: { 'sec-fetch-site': 'same-origin' } }, 200],
  ])('%s', async (_, options, status) => {
    expect((await on.send([runFile('true')], options)).status).toBe(status);
  });

  test('the right token', async () => {
    expect(
      (await on.send([runFile('true')], { query: `?token=${await on.daemon.token()}&_t=1` }))
        .status,
    ).toBe(200);
  });

  test.each([
    ['in front of the file', true],
    ['behind it', false],
  ])('nobody with a wrong token in the form %s, and nothing is left', async (_, isFirst) => {
    const right = await on.daemon.token();
    const field = (value: string): string =>
      `--b\r\nContent-Disposition: form-data; name="token"\r\n\r\n${value}\r\n`;
    const file = `${HEAD}true\n\r\n`;
    const statuses = [];
    for (const token of ['wrong', '', right]) {
      const sending = on.open(FORM);
      const answer = once(sending, 'response') as Promise<[IncomingMessage]>;
      sending.end(`${isFirst ? field(token) + file : file + field(token)}--b--\r\n`);
      const [{ statusCode }] = await answer;
      statuses.push(statusCode);
      if (token !== right) await expect.poll(on.left).toEqual([]);
    }
    expect(statuses).toEqual([403, 403, 200]);
  });

  test('nobody by another method or another type', async () => {
    expect((await on.daemon.get('admin/store/upload')).status).toBe(405);
    const url = `${on.daemon.url}${on.daemon.base}/admin/store/upload`;
    expect(
      (
        await fetch(url, {
          method: 'POST',
          body: 'x'.repeat(1000),
          headers: { 'content-type': 'application/octet-stream' },
        })
      ).status,
    ).toBe(415);
  });
});
