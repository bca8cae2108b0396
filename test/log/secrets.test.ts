import { expect, test } from 'vitest';

import { createLog } from '../../src/log.ts';

test('a token, a password or a cookie is not in the log, even if somebody logs the whole request', () => {
  const lines: string[] = [];
  const log = createLog('info', (line) => lines.push(line));

  log.info(
    { path: '/x', token: 'secret-1', request: { cookie: 'secret-2', authorization: 'secret-3' } },
    'request failed',
  );
  log.info({ password: 'secret-4', key: 'secret-5' }, 'request failed');

  expect(lines).toHaveLength(2);
  expect(lines.join('')).toContain('"path":"/x"');
  expect(lines.join('')).not.toContain('secret');
});
