import { expect, test } from 'vitest';
import { createRouteMatcher, ROUTES, type Route } from '../../../src/features/forge/routes.ts';
import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';

type Paths = Record<string, Record<string, { parameters: { name: string; in: string }[] }>>;

async function documented(...set: string[]): Promise<Paths> {
  const device = await createDevice();
  const daemon = await startDaemon(device, { set });
  try {
    return ((await (await daemon.get('openapi.json')).json()) as { paths: Paths }).paths;
  } finally {
    await daemon.close();
    await device.close();
  }
}

test('the OpenAPI document names every operation of the forge, and each under a path that the forge half takes', async () => {
  const paths = await documented('forge.upstream=http://127.0.0.1:9', 'forge.path=/git/api');
  const matchRoute = createRouteMatcher('documented');
  const matched = new Set<Route | undefined>();

  for (const [path, methods] of Object.entries(paths).filter(([name]) =>
    name.startsWith('/git/api/'),
  )) {
    for (const [method, { parameters }] of Object.entries(methods)) {
      const filled = parameters.reduce(
        (text, { name }) => text.replace(`{${name}}`, name === 'diffType' ? 'diff' : '7'),
        path.slice('/git/api'.length),
      );
      const route = matchRoute(method.toUpperCase(), filled);
      expect([filled, route?.method]).toEqual([filled, method.toUpperCase()]);
      matched.add(route);
    }
  }

  expect(ROUTES.filter((route) => !matched.has(route))).toEqual([]);
});

test('the OpenAPI document says in a sentence what each operation of the forge is for', () => {
  expect(ROUTES.filter(({ summary }) => summary.length < 4)).toEqual([]);
});

test('the OpenAPI document names no operation of a forge where none is configured', async () => {
  expect(Object.keys(await documented()).filter((path) => path.startsWith('/api/v1/'))).toEqual([]);
});
