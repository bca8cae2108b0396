import { expect, test } from 'vitest';

import { passwd } from '../../src/cli/passwd.ts';

interface Outcome {
  code: number;
  sent: { path: string; form: Record<string, string> }[];
  said: string[];
}

/** Runs it on what standard input has, against a daemon that gives this answer. */
async function run(pieces: readonly string[], answer = { status: 204, msg: '' }): Promise<Outcome> {
  const sent: Outcome['sent'] = [];
  const said: string[] = [];
  const client = {
    postForm: async (path: string, form: Record<string, string>) => {
      sent.push({ path, form });
      return answer;
    },
  };
  async function* input(): AsyncGenerator<string> {
    yield* pieces;
  }
  return { code: await passwd({ client, input: input(), say: (line) => said.push(line) }), sent, said };
}

test('the first line is the new password, to the letter', async () => {
  expect(await run(['  a b', ' $c \n'])).toEqual({ code: 0, sent: [{ path: 'admin/passwd', form: { password: '  a b $c ' } }], said: [] });
});

test('the second line is the old one', async () => {
  expect((await run(['new\nold\n'])).sent).toEqual([{ path: 'admin/passwd', form: { password: 'new', old: 'old' } }]);
});

test.for([[], [''], ['\nold\n']])('without a new password nothing is sent (%j)', async (pieces) => {
  expect(await run(pieces)).toMatchObject({ code: 2, sent: [] });
});

test('a refusal is told, and where the old password may be what is missing, how to give it', async () => {
  const refused = { status: 403, msg: 'cannot set the password without the parameter old: one is set already' };

  expect(await run(['new\n'], refused)).toMatchObject({ code: 1, said: [`${refused.msg} (a second line of standard input is the old password)`] });
  expect(await run(['new\nold\n'], { status: 403, msg: 'cannot log in: the password is wrong' })).toMatchObject({ code: 1, said: ['cannot log in: the password is wrong'] });
});
