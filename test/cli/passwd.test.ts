import { expect, test } from 'vitest';

import { passwd } from '../../src/cli/commands/passwd.ts';
import { readSecrets } from '../../src/cli/passwords.ts';
import { DepotError } from '../../src/errors.ts';

interface Outcome {
  code: number;
  sent: Record<string, string>[];
  said: string[];
}

/**
 * Runs it on what standard input has, against a daemon that takes it or refuses it in these words.
 */
async function run(pieces: readonly string[], refusal?: string): Promise<Outcome> {
  const sent: Outcome['sent'] = [];
  const said: string[] = [];
  const client = {
    setPassword: async (form: Record<string, string>) => {
      sent.push(form);
      if (refusal !== undefined) throw new DepotError('command_failed', refusal);
      return undefined;
    },
  };
  async function* input(): AsyncGenerator<string> {
    yield* pieces;
  }
  return {
    code: await passwd({
      client,
      isOnThisHost: true,
      secrets: readSecrets(input()),
      say: (line) => said.push(line),
    }),
    sent,
    said,
  };
}

test('the first line is the new password, to the letter', async () => {
  expect(await run(['  a b', ' $c \n'])).toEqual({
    code: 0,
    sent: [{ password: '  a b $c ' }],
    said: [],
  });
});

test('the second line is the old one', async () => {
  expect((await run(['new\nold\n'])).sent).toEqual([{ password: 'new', old: 'old' }]);
});

test.for([[], [''], ['\nold\n']])('without a new password nothing is sent (%j)', async (pieces) => {
  expect(await run(pieces)).toMatchObject({ code: 2, sent: [] });
});

test('a refusal is told, and where the old password may be what is missing, how to give it', async () => {
  const missing = 'cannot set the password without the parameter old: one is set already';

  await expect(run(['new\n'], missing)).rejects.toThrow(
    `${missing} (the second line of standard input is the old one)`,
  );
  await expect(run(['new\nold\n'], 'cannot log in: the password is wrong')).rejects.toThrow(
    /^cannot log in: the password is wrong$/,
  );
});
