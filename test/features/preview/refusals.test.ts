import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openStore, type Store } from '../packages/open-store.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore();
});
afterAll(() => store.close());

describe('requests that are refused', () => {
  test.each([
    ['plan?operation=install', 'package'],
    ['plan?operation=install&all=true', 'all'],
    ['plan?operation=upgrade&all=true&package=demo', 'package'],
    ['plan?operation=upgrade', 'package'],
    ['plan?operation=purge&package=demo', 'operation'],
    ['plan?package=demo', 'operation'],
    ['plan?operation=install&package=*', 'package'],
    ['plan?operation=install&package=demo&package=-o%2Ftmp', 'package'],
    ['plan?operation=install&package=', 'package'],
    [`plan?operation=install${'&package=a'.repeat(101)}`, 'at most 100'],
  ])('%s', async (path, text) => {
    const answer = await store.daemon.get(`admin/store/${path}`);
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { msg: string }).msg).toContain(text);
  });

  test.each([{}, { package: 'demo', all: 'true' }, { all: 'false' }])(
    'POST upgrade with %j',
    async (params) => {
      expect((await store.daemon.post('admin/store/upgrade', params)).status).toBe(400);
    },
  );
});
