import { expect, test } from 'vitest';

import { createPanelBus, parseSession } from '../../../src/features/login/panel-bus.ts';
import { createPanel } from '../../support/panel.ts';

test.for([
  [
    'a session of the panel',
    '{"values":{"token":"0123456789abcdef0123456789abcdef","username":"root"}}\n',
    { username: 'root', token: '0123456789abcdef0123456789abcdef' },
  ],
  [
    'one with further values',
    '{"values":{"foo":{"a":[1]},"token":"t","username":"root"}}\n',
    { username: 'root', token: 't' },
  ],
  ['the session of zeros', '{"values":{}}\n', undefined],
  ['one without token', '{"values":{"username":"root"}}\n', undefined],
  ['one without user name', '{"values":{"token":"t"}}\n', undefined],
  ['an empty token', '{"values":{"username":"root","token":""}}\n', undefined],
  ['a token that is no text', '{"values":{"username":"root","token":true}}\n', undefined],
  ['a user name that is no text', '{"values":{"username":["root"],"token":"t"}}\n', undefined],
  ['values that are a list', '{"values":["username","token"]}\n', undefined],
  [
    'values inherited from nowhere',
    '{"values":{"__proto__":{"username":"root","token":"t"}}}\n',
    undefined,
  ],
] as const)('%s is read for what it is', ([, text, login]) => {
  expect(parseSession(text)).toEqual(login);
});

test.for([
  ['nothing', ''],
  ['HTML', '<html></html>'],
  ['half an answer', '{"values":{"username":"root","tok'],
  ['two answers', '{"values":{}}\n{"values":{}}\n'],
  ['no values', '{"ubus_rpc_session":"x"}'],
  ['values that are null', '{"values":null}'],
  ['a list', '[]'],
  ['null', 'null'],
] as const)('%s is no answer', ([, text]) => {
  expect(() => parseSession(text)).toThrow(/^cannot ask the panel who this is/);
});

test('strangers who ask all at once are refused in part, and who is known does not stand behind them', async () => {
  const panel = await createPanel();
  const bus = createPanelBus({ environment: { PATH: `${panel.bin}:${process.env.PATH ?? ''}` } });
  const { id, token } = await panel.logIn();
  await panel.fail('slow');
  const strangers = Array.from({ length: 80 }, () =>
    bus.findLogin({ id: 'f'.repeat(32), isKnown: false }).then(
      () => 'answered',
      () => 'refused',
    ),
  );
  const known = await bus.findLogin({ id, isKnown: true });
  const isFirst = await Promise.race([strangers[60], Promise.resolve('not yet')]);

  expect([known, isFirst]).toEqual([{ username: 'root', token }, 'not yet']);
  expect(
    (await Promise.all(strangers)).filter((outcome) => outcome === 'refused').length,
  ).toBeGreaterThanOrEqual(14);
  await panel.close();
});
