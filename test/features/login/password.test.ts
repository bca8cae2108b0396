import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { createPassword } from '../../../src/features/login/password.ts';

/** Somebody without a session. */
const STRANGER = { isTrusted: false, client: 'lan' };

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depotd-password-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test('only the password that was set matches', async () => {
  const password = createPassword(folder);
  await password.set('correct horse');

  expect([
    await password.matches('correct horse', STRANGER),
    await password.matches('correct horse ', STRANGER),
    await password.matches('', STRANGER),
  ]).toEqual([true, false, false]);
});

test.each([true, false])(
  'a password that is replaced while it is checked matches no more (trusted: %s)',
  async (isTrusted) => {
    const password = createPassword(folder);
    await password.set('old');
    const replaced = password.set('new');
    // Those before it in the line are asked for the old one, too.
    const checks = Array.from({ length: 4 }, () =>
      password.matches('old', { isTrusted, client: 'lan' }),
    );
    let isOver = false;
    const answers = checks.map(async (check) => ({ isRight: await check, isOver }));
    await replaced;
    isOver = true;

    const late = (await Promise.all(answers)).filter((answer) => answer.isOver);
    expect(late.filter(({ isRight }) => isRight)).toEqual([]);
  },
);

test('nothing matches while none is set', async () => {
  const password = createPassword(folder);

  expect([await password.isSet(), await password.matches('', STRANGER)]).toEqual([false, false]);
});

test('the file is for its owner alone and holds no password', async () => {
  await createPassword(folder).set('correct horse');
  const file = join(folder, 'password');

  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readFile(file, 'utf8')).toMatch(/^scrypt\$16384\$8\$5\$[\w-]{22}\$[\w-]{43}\n$/);
});

test('the same password gets another hash each time', async () => {
  const password = createPassword(folder);
  await password.set('correct horse');
  const first = await readFile(join(folder, 'password'), 'utf8');
  await password.set('correct horse');

  expect(await readFile(join(folder, 'password'), 'utf8')).not.toBe(first);
});

test('one password typed in two ways of Unicode is one password', async () => {
  const password = createPassword(folder);
  await password.set('caf\u00e9');

  expect(await password.matches('cafe\u0301', STRANGER)).toBe(true);
});

test.for([
  '',
  '\n',
  'plain text',
  'scrypt$16384$8$5$$',
  'scrypt$9999999999$8$5$aaaaaaaaaaaaaaaaaaaaaa$bbbb',
])('a damaged file (%j) is no password that was never set', async (text) => {
  await writeFile(join(folder, 'password'), text);
  const password = createPassword(folder);

  expect(await password.isSet()).toBe(true);
  await expect(password.matches('', STRANGER)).rejects.toMatchObject({ code: 'unavailable' });
});

test('a file that cannot be read is no password that was never set', async () => {
  await mkdir(join(folder, 'password'));

  await expect(createPassword(folder).isSet()).rejects.toMatchObject({ code: 'unavailable' });
});
