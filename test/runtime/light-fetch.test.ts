import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { LightHeaders } from '../../src/runtime/light-fetch.ts';
import { runCommand } from '../device/command.ts';
import { bundledProgram } from '../support/bundled-program.ts';

describe('the header list that answers carry', () => {
  const sources: [string, [string, string][]][] = [
    ['nothing', []],
    [
      'one name in two spellings',
      [
        ['Vary', 'a'],
        ['vary', 'b'],
      ],
    ],
    [
      'several cookies',
      [
        ['Set-Cookie', 'a=1'],
        ['x', 'y'],
        ['set-cookie', 'b=2; Path=/'],
      ],
    ],
    [
      'a cookie in two parts',
      [
        ['cookie', 'a=1'],
        ['Cookie', 'b=2'],
      ],
    ],
    [
      'spaces around a value',
      [
        ['etag', ' "1"\t'],
        ['empty', ''],
      ],
    ],
    [
      'names out of order',
      [
        ['z', '1'],
        ['A', '2'],
        ['m', '3'],
      ],
    ],
  ];

  test.each(sources)("reads like Node's own: %s", (_, entries) => {
    const [light, native] = [new LightHeaders(entries), new Headers(entries)];
    expect([...light]).toEqual([...native]);
    expect([...light.keys()]).toEqual([...native.keys()]);
    expect([...light.values()]).toEqual([...native.values()]);
    expect(light.getSetCookie()).toEqual(native.getSetCookie());
    for (const name of ['VARY', 'set-cookie', 'Cookie', 'etag', 'empty', 'absent']) {
      expect(light.get(name)).toBe(native.get(name));
      expect(light.has(name)).toBe(native.has(name));
    }
  });

  test("changes like Node's own", () => {
    const changed = [new LightHeaders({ a: '1', B: '2' }), new Headers({ a: '1', B: '2' })].map(
      (headers) => {
        headers.set('A', '3');
        headers.delete('b');
        headers.append('c', '4');
        headers.set('set-cookie', 'x=1');
        headers.append('Set-Cookie', 'y=2');
        const lines: string[] = [];
        headers.forEach((value, name) => lines.push(`${name}: ${value}`));
        return lines;
      },
    );
    expect(changed[0]).toEqual(changed[1]);
    expect([...new LightHeaders(new LightHeaders({ a: '1' }))]).toEqual([['a', '1']]);
  });
});

// Later ones load it for whoever imports `node:http` by name, as this program does and the bundle
// does not; and what has been replaced is gone there.
const onNode20 = test.runIf(process.version.startsWith('v20.'));

onNode20("a daemon that answers requests does without Node's HTTP client", async () => {
  const { stdout } = await runCommand([
    process.execPath,
    await bundledProgram(join(import.meta.dirname, 'answer-requests.ts')),
  ]);
  expect(JSON.parse(stdout)).toEqual({
    json: [200, 'application/json; charset=utf-8', '{"a":"b"}'],
    packed: [200, 'gzip', `{"a":"${'b'.repeat(2000)}"}`],
    head: [200, 'application/json; charset=utf-8', ''],
    form: [200, 'x=1,y=2', '{"a":"c"}'],
    stream: [200, 'text/event-stream; charset=utf-8', ':\n\nevent: tick\ndata: 1\n\n'],
    absent: [404, 'application/json; charset=utf-8', '{"code":404,"msg":"cannot find /absent"}'],
    loaded: false,
    made: 'now',
    thenLoaded: true,
  });
});
