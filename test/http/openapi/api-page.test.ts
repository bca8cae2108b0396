import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { operationTables, type ApiDocument } from './api-page.ts';

const PAGE = join(import.meta.dirname, '../../../docs/http-api.md');
const BEGIN = '<!-- from openapi.json: npm run docs -->';
const END = '<!-- end -->';

test('docs/http-api.md lists the operations as openapi.json describes them', async () => {
  const device = await createDevice();
  const daemon = await startDaemon(device, { set: ['forge.upstream=http://127.0.0.1:9'] });
  const document = (await (await daemon.get('openapi.json')).json()) as ApiDocument;
  await daemon.close();
  await device.close();

  const page = await readFile(PAGE, 'utf8');
  const [before, rest] = page.split(BEGIN);
  const [, after] = (rest ?? '').split(END);
  expect([before, after].every((text) => text !== undefined)).toBe(true);
  const tables = operationTables(document, { base: daemon.base, heading: '###' });

  // `npm run docs` writes it.
  await expect([before, BEGIN, `\n\n${tables}\n\n`, END, after].join('')).toMatchFileSnapshot(PAGE);
});
