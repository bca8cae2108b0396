import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';

import { beforeEach, expect, test, vi } from 'vitest';

const RESOURCES = '../../packaging/openwrt/luci-app-depotd/htdocs/luci-static/resources';
const sourceOf = (file: string): string =>
  readFileSync(join(import.meta.dirname, RESOURCES, file), 'utf8');

interface StatusBox {
  title: string;
  load: () => Promise<number>;
  render: (number: number) => unknown;
}

interface Element {
  name: string;
  attributes: Record<string, string>;
  children: unknown;
}

const kept = new Map<string, string>();
const ofTab = new Map<string, string>();
let asked: string[] = [];
let plan: () => Response;
let auth: string | undefined;

beforeEach(() => {
  kept.clear();
  ofTab.clear();
  asked = [];
  auth = undefined;
  plan = () => Response.json({ upgrades: [{}, {}, {}] });
});

/** One of LuCI's classes; `upgrades` is the one that both need. */
function load(file: string, more: Record<string, unknown> = {}): unknown {
  const format = (text: string): unknown =>
    Object.assign(Object(text) as object, {
      format: (number: number) => text.replace('%d', String(number)),
    });
  const storageOf = (values: Map<string, string>): object => ({
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  });
  const globals = {
    baseclass: { extend: (box: unknown) => box },
    rpc: { getSessionID: () => 'f'.repeat(32) },
    uci: {
      load: () => Promise.resolve(),
      get: () => (auth === undefined ? undefined : { auth }),
      sections: () => [],
    },
    _: format,
    E: (name: string, attributes: Element['attributes'], children: unknown): Element => ({
      ...{ name, attributes, children },
    }),
    L: { url: (path: string) => `/cgi-bin/luci/${path}` },
    localStorage: storageOf(kept),
    sessionStorage: storageOf(ofTab),
    fetch: (url: string, { headers = {} }: { headers?: Record<string, string> }) => {
      asked.push(`${url} ${headers['X-Depotd-Key'] ?? ''}`.trim());
      return Promise.resolve(
        url.endsWith('/login')
          ? new Response('{}', { headers: { 'X-Depotd-Key': 'the key' } })
          : plan(),
      );
    },
    ...more,
  };
  const source = compileFunction(sourceOf(file), Object.keys(globals)) as (
    ...values: unknown[]
  ) => unknown;
  return source(...Object.values(globals));
}

const loadBox = (): StatusBox =>
  load('view/status/include/70_depotd.js', {
    upgrades: load('depotd/upgrades.js'),
  }) as StatusBox;

test("LuCI's status page says how many packages can be upgraded, and leads to the page", async () => {
  const box = loadBox();
  const paragraph = box.render(await box.load()) as { children: Element[] };

  expect(paragraph.children).toMatchObject([
    {
      name: 'a',
      attributes: { href: '/cgi-bin/luci/admin/system/depotd/apps' },
      children: 'Packages that can be upgraded: 3',
    },
  ]);
  expect(asked).toEqual([
    '/cgi-bin/panel/admin/login',
    '/cgi-bin/panel/admin/store/plan?operation=upgrade&all=true the key',
  ]);
  expect([...kept]).toEqual([['depotd-key:/cgi-bin/panel/', 'the key']]);
});

test('it asks once in ten minutes, however often the pages of LuCI do', async () => {
  vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] });
  try {
    for (let time = 0; time < 5; time += 1) await loadBox().load();
    expect(asked).toHaveLength(2);

    vi.advanceTimersByTime(600_001);
    await loadBox().load();
    expect(asked).toHaveLength(4);
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ['nothing can be upgraded', () => Response.json({ upgrades: [] })],
  ['depotd does not answer', () => new Response('', { status: 503 })],
])('there is no box where %s', async (_what, answer) => {
  plan = answer;
  const box = loadBox();

  expect(box.render(await box.load())).toBeNull();
  expect(box.title).toBe('');
});

test('with a password of its own nothing is asked', async () => {
  auth = 'password';
  const box = loadBox();

  expect(await box.load()).toBe(0);
  expect(asked).toEqual([]);
});

test('on each page the entry in the menu says how many, once the theme has made it', async () => {
  let isThere = false;
  let look: () => void = () => undefined;
  let isWatching = true;
  const marks: Element[] = [];
  const links = [{ append: (mark: Element) => marks.push(mark) }];
  const preload = load('preload/depotd.js', {
    upgrades: load('depotd/upgrades.js'),
    document: {
      documentElement: {},
      querySelectorAll: (selector: string) =>
        isThere && selector === 'a[href="/cgi-bin/luci/admin/system/depotd"]' ? links : [],
    },
    MutationObserver: class {
      constructor(onChange: () => void) {
        look = onChange;
      }
      observe = (): void => undefined;
      disconnect = (): void => void (isWatching = false);
    },
  }) as { __init__: () => void };
  preload.__init__();
  look();
  expect([asked, isWatching]).toEqual([[], true]);

  isThere = true;
  look();

  await vi.waitFor(() => expect(marks).toMatchObject([{ children: ' (3)' }]));
  expect(isWatching).toBe(false);
});
