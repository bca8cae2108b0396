import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compileFunction } from 'node:vm';

import { beforeEach, expect, test, vi } from 'vitest';

const FILE = 'luci-app-depotd/htdocs/luci-static/resources/view/status/include/70_depotd.js';
const SOURCE = readFileSync(join(import.meta.dirname, '../../packaging/openwrt', FILE), 'utf8');

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
let asked: string[] = [];
let marks: Element[] = [];
const menuEntry = {
  querySelector: () => (marks.length === 0 ? null : { remove: () => void marks.pop() }),
  append: (mark: Element) => void marks.push(mark),
};
let plan: () => Response;
let auth: string | undefined;

beforeEach(() => {
  kept.clear();
  asked = [];
  marks = [];
  auth = undefined;
  plan = () => Response.json({ upgrades: [{}, {}, {}] });
});

/** The box as LuCI's status page loads it. */
function load(): StatusBox {
  const format = (text: string): unknown =>
    Object.assign(Object(text) as object, {
      format: (number: number) => text.replace('%d', String(number)),
    });
  const globals = {
    baseclass: { extend: (box: StatusBox) => box },
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
    document: {
      querySelectorAll: (selector: string) =>
        selector === 'a[href="/cgi-bin/luci/admin/system/depotd"]' ? [menuEntry] : [],
    },
    localStorage: { setItem: (key: string, value: string) => void kept.set(key, value) },
    fetch: (url: string, { headers = {} }: { headers?: Record<string, string> }) => {
      asked.push(`${url} ${headers['X-Depotd-Key'] ?? ''}`.trim());
      return Promise.resolve(
        url.endsWith('/login')
          ? new Response('{}', { headers: { 'X-Depotd-Key': 'the key' } })
          : plan(),
      );
    },
  };
  const box = compileFunction(SOURCE, Object.keys(globals)) as (...values: unknown[]) => StatusBox;
  return box(...Object.values(globals));
}

test("LuCI's status page says how many packages can be upgraded, and leads to the page", async () => {
  const box = load();
  const paragraph = box.render(await box.load()) as { children: Element[] };

  expect(paragraph.children).toMatchObject([
    {
      name: 'a',
      attributes: { href: '/cgi-bin/luci/admin/system/depotd/apps' },
      children: 'Packages that can be upgraded: 3',
    },
  ]);
  box.render(4);
  expect(marks).toMatchObject([{ name: 'small', children: ' (4)' }]);
  expect(asked).toEqual([
    '/cgi-bin/panel/admin/login',
    '/cgi-bin/panel/admin/store/plan?operation=upgrade&all=true the key',
  ]);
  expect([...kept]).toEqual([['depotd-key:/cgi-bin/panel/', 'the key']]);
});

test('it asks once in ten minutes, however often the status page does', async () => {
  const box = load();
  for (let time = 0; time < 5; time += 1) await box.load();
  expect(asked).toHaveLength(2);

  vi.useFakeTimers({ now: 0, toFake: ['performance'] });
  try {
    const later = load();
    await later.load();
    vi.advanceTimersByTime(600_001);
    await later.load();
    expect(asked).toHaveLength(6);
  } finally {
    vi.useRealTimers();
  }
});

test.each([
  ['nothing can be upgraded', () => Response.json({ upgrades: [] })],
  ['depotd does not answer', () => new Response('', { status: 503 })],
])('there is no box where %s', async (_what, answer) => {
  plan = answer;
  const box = load();

  expect(box.render(await box.load())).toBeNull();
  expect(box.title).toBe('');
});

test('with a password of its own nothing is asked', async () => {
  auth = 'password';
  const box = load();

  expect(await box.load()).toBe(0);
  expect(asked).toEqual([]);
});
