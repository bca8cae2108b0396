import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createFleetDevice, ipk, moduleOf, planOf, type FleetDevice } from './fleet-device.ts';
import { createStandIn, type StandIn } from './stand-in.ts';

/** The alert rules and the dashboard of the documentation ask for what the daemon has. */
const DOCS = join(import.meta.dirname, '../../../docs/fleet');
/** Prometheus adds these to every figure. */
const OF_PROMETHEUS = ['instance', 'job'];

let server: StandIn;
let on: FleetDevice;
/** Labels by the name of the metric. */
let exposed: Map<string, Set<string>>;

beforeAll(async () => {
  server = await createStandIn();
  on = await createFleetDevice(server);
  await on.over(await server.assign(await server.publish([moduleOf(ipk('one'))]), on.id));
  const forbidden = await server.publish([planOf({ version: 1, remove: ['one'] })]);
  await on.over(await server.assign(forbidden, on.id));
  exposed = exposedIn(await (await on.daemon.get('/metrics')).text());
});
afterAll(async () => {
  await on.close();
  await server.close();
});

function exposedIn(text: string): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)) {
    const known = found.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/([a-z_]+)="/g)) known.add(label);
    found.set(name, known);
  }
  return found;
}

async function rules(): Promise<string[]> {
  const text = await readFile(join(DOCS, 'alerts.yaml'), 'utf8');
  return text.split(/^ +- alert: /m).slice(1);
}

async function panels(): Promise<string[]> {
  const text = await readFile(join(DOCS, 'grafana.json'), 'utf8');
  const dashboard = JSON.parse(text) as {
    panels: { targets?: { expr: string }[] }[];
    templating: { list: { query: string | { query: string } }[] };
  };
  const variables = dashboard.templating.list.map(({ query }) =>
    typeof query === 'string' ? query : query.query,
  );
  return [
    ...dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
    ...variables.filter((query) => query.includes('(')),
  ];
}

/** @returns what the expressions ask for and the daemon does not have */
function missingIn(expressions: readonly string[]): string[] {
  return expressions.flatMap((expression) => {
    const asked = [...expression.matchAll(/\b(depotd_[a-z_]+)(?:\{([^}]*)\})?/g)];
    const names = asked.map(([, name = '']) => name);
    const labelsOf = (name: string): string[] => [...(exposed.get(name) ?? []), ...OF_PROMETHEUS];
    const matched = asked.flatMap(([, name = '', matchers = '']) =>
      [...matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g)]
        .filter(([, label = '']) => !labelsOf(name).includes(label))
        .map(([, label = '']) => `${name}{${label}}`),
    );
    const grouped = [
      ...expression.matchAll(/\b(?:by|without) \(([^)]*)\)/g),
      ...expression.matchAll(/\$labels\.([a-z_]+)/g),
      ...expression.matchAll(/label_values\([a-z_]+, ([a-z_]+)\)/g),
    ]
      .flatMap(([, list = '']) => list.split(/,\s*/))
      .filter((label) => !names.some((name) => labelsOf(name).includes(label)))
      .map((label) => `${names.join(' ')} by ${label}`);
    return [...names.filter((name) => !exposed.has(name)), ...matched, ...grouped];
  });
}

test('the alert rules ask for metrics and labels that the daemon has', async () => {
  const found = await rules();
  expect(found.length).toBeGreaterThan(5);
  expect(missingIn(found)).toEqual([]);
});

test('the dashboard asks for metrics and labels that the daemon has', async () => {
  const found = await panels();
  expect(found.length).toBeGreaterThan(10);
  expect(missingIn(found)).toEqual([]);
});

test('a metric or a label that the daemon does not have is found', () => {
  const wrong = [
    'depotd_fleet_absent > 0',
    'sum by (colour) (depotd_fleet_actions{shape="x"})',
    'depotd_fleet_on == 1 {{ $labels.colour }}',
  ];
  expect(missingIn(wrong)).toEqual([
    'depotd_fleet_absent',
    'depotd_fleet_actions{shape}',
    'depotd_fleet_actions by colour',
    'depotd_fleet_on by colour',
  ]);
});

test('the panels of the dashboard have ids and places of their own', async () => {
  const { panels: all } = JSON.parse(await readFile(join(DOCS, 'grafana.json'), 'utf8')) as {
    panels: { id: number; gridPos: { x: number; y: number; w: number; h: number } }[];
  };
  const cells = all.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  );
  expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  expect(new Set(cells).size).toBe(cells.length);
  expect(cells.every((cell) => Number(cell.split(',')[0]) < 24)).toBe(true);
});
