import { compileFunction } from 'node:vm';
import { expect, test } from 'vitest';

import type { Section } from '../../src/config/option.ts';
import { SECTIONS } from '../../src/features.ts';
import { readSource } from '../source-tree.ts';

type Checks = Readonly<Record<string, (value: string) => unknown>>;

/** The checks of the form, run as LuCI loads them. */
const checks = checksIn(
  readSource('packaging/openwrt/luci-app-depotd/htdocs/luci-static/resources/depotd/options.js'),
);

test.each([
  {
    option: 'fleet.server',
    check: 'fleet',
    good: ['https://a.example', 'https://a:8443/b', 'http://127.0.0.1:8080', 'http://localhost'],
    bad: ['a.example', 'http://a.example', 'https://u:p@a.example', 'http://localhost.example'],
  },
  {
    option: 'fleet.tenant',
    check: 'tenant',
    good: ['DEFAULT', 'a.b_c-1'],
    bad: ['', '.a', 'a b', 'a'.repeat(41)],
  },
  {
    option: 'fleet.controller_id',
    check: 'deviceName',
    good: ['a:b.c', '1'],
    bad: ['.a', 'a/b', 'a'.repeat(129)],
  },
  {
    option: 'fleet.settings',
    check: 'setting',
    good: ['network.lan.mtu', 'my-app.a.b', 'wireless.guest'],
    bad: ['network', 'a.b.c.d'],
  },
  {
    option: 'fleet.tags',
    check: 'tag',
    good: ['ring=canary', 'a='],
    bad: ['ring', '=a', 'a=<b>', `a=${'x'.repeat(129)}`],
  },
  {
    option: 'fleet.ca_file',
    check: 'path',
    good: ['/etc/depotd/ca.pem'],
    bad: ['ca.pem', '/etc/../ca.pem', '/a//b'],
  },
])('the form accepts for $option what depotd accepts', ({ option, check, good, bad }) => {
  const [section, name = ''] = option.split('.');
  const sections: readonly Section[] = SECTIONS;
  const known = sections.find((each) => each.name === section)?.options[name];
  const isGood = (value: string): boolean => checks[check]?.(value) === true;
  expect([good.map(isGood), bad.map(isGood)]).toEqual([good.map(() => true), bad.map(() => false)]);
  for (const value of good) expect(() => known?.parse([value])).not.toThrow();
  for (const value of bad) expect(() => known?.parse([value])).toThrow('expected');
});

function checksIn(source: string): Checks {
  const load = compileFunction(source, ['baseclass', 'form', 'uci', '_']) as (
    ...modules: unknown[]
  ) => { checks: Checks };
  const text = { format: (): object => text };
  return load({ extend: (members: object) => members }, {}, {}, () => text).checks;
}
