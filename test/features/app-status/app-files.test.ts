import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';

import {
  COUNTING,
  countOf,
  createEntryDevice,
  publishTool,
  RUNNING,
  type EntryDevice,
} from './entry-device.ts';

let on: EntryDevice;

beforeAll(async () => {
  on = await createEntryDevice();
});
afterEach(() => on.removeScripts());
afterAll(() => on.close());

describe('a script that does wrong', () => {
  test.each([
    ['fails', 'echo "token=geheim" >&2; exit 3', 'exit code 3'],
    ['prints nothing', 'exit 0', 'printed no status'],
    ['prints no JSON', 'echo "geheim: yes"', 'printed no status'],
    ['prints a list', 'echo "[]"', 'printed no status'],
    ['does not say whether it runs', 'echo "{}"', 'printed no status'],
    ['prints without end', 'yes geheim', 'more than 256 KiB'],
  ])(
    'a script that %s is an error item with 500 that gives away nothing of what it printed',
    async (_, body, why) => {
      await on.script('fast', body);
      const { status, errors } = await on.entries({ package: 'fast', hostname: 'nas' });
      expect(status).toEqual([]);
      expect(errors).toMatchObject([{ app: 'fast', code: 500 }]);
      expect(errors[0]?.msg).toContain(why);
      expect(errors[0]?.msg).not.toContain('geheim');
    },
  );

  test('a script that hangs is ended after ten seconds with all that it started, and holds up no other app', async () => {
    await on.script('fast', `sleep 97.31 & (trap '' TERM; sleep 97.31) & wait`);
    await on.script('second', RUNNING);

    const began = performance.now();
    const hanging = on.entries({ package: 'fast,second', hostname: 'nas' });
    let isOver = false;
    void hanging.then(() => (isOver = true));
    expect((await on.entries({ package: 'second', hostname: 'nas' })).status).toHaveLength(1);
    expect(isOver).toBe(false);

    const { status, errors } = await hanging;
    expect(status.map(({ app }) => app)).toEqual(['second']);
    expect(errors).toMatchObject([{ app: 'fast', code: 500 }]);
    expect(performance.now() - began).toBeGreaterThan(9900);
    expect(performance.now() - began).toBeLessThan(60_000);
    expect(await countOf('sleep', '97.31')).toBe(0);
  });

  test('a script that leaves a program of its own session with the output open is answered at once', async () => {
    await on.script('fast', `setsid sleep 20 & ${RUNNING}`);
    const began = performance.now();
    expect((await on.entries({ package: 'fast', hostname: 'nas' })).status).toHaveLength(1);
    expect(performance.now() - began).toBeLessThan(15_000);
  });
});

describe('what is kept', () => {
  test('hundred callers at once start one script, with update as without', async () => {
    await on.script('fast', `echo run >>"$0.runs"; sleep 2; ${RUNNING}`);
    await Promise.all(
      Array.from({ length: 100 }, () => on.entries({ package: 'fast', hostname: 'nas' })),
    );
    expect(await on.runsOf('fast')).toBe(1);
    await Promise.all(
      Array.from({ length: 100 }, () =>
        on.entries({ package: 'fast', hostname: 'nas', update: '1' }),
      ),
    );
    expect(await on.runsOf('fast')).toBe(2);
  });

  test('an answer is given again until the configuration, the script or the installed version changes, or update asks anew', async () => {
    await on.script('fast', COUNTING);
    const ask = async (params = {}): Promise<number> => {
      await on.entries({ package: 'fast', hostname: 'nas', ...params });
      return on.runsOf('fast');
    };
    expect([await ask(), await ask(), await ask({ update: '0' })]).toEqual([1, 1, 1]);
    expect([await ask({ update: '1' }), await ask()]).toEqual([2, 2]);

    const config = join(on.device.root, 'etc/config/fast');
    await writeFile(config, 'a');
    expect([await ask(), await ask()]).toEqual([3, 3]);
    await utimes(config, 1, 1);
    expect([await ask(), await ask()]).toEqual([4, 4]);
    await rm(config);
    expect([await ask(), await ask()]).toEqual([5, 5]);

    await on.script('fast', `${COUNTING}\n# changed`);
    expect([await ask(), await ask()]).toEqual([6, 6]);

    await publishTool(on.device, '1.0-2');
    expect(
      (await on.daemon.finished(await on.daemon.submit('upgrade', { package: 'fast' }))).state,
    ).toBe('done');
    expect([await ask(), await ask()]).toEqual([7, 7]);
  });

  test('a failure is not given again', async () => {
    await on.script('fast', 'echo run >>"$0.runs"; exit 1');
    await on.entries({ package: 'fast', hostname: 'nas' });
    await on.entries({ package: 'fast', hostname: 'nas' });
    expect(await on.runsOf('fast')).toBe(2);
  });
});

test('scripts that run are ended when the daemon stops', async () => {
  await on.script('fast', `echo run >>"$0.runs"; sleep 95.53`);
  const asked = on.entries({ package: 'fast', hostname: 'nas' }).catch(() => undefined);
  await expect.poll(() => on.runsOf('fast')).toBe(1);
  expect(await on.daemon.kill('SIGTERM')).toEqual({ code: 0, signal: null });
  await asked;
  expect(await countOf('sleep', '95.53')).toBe(0);
});
