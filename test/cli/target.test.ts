import { expect, test } from 'vitest';

import { parseTarget } from '../../src/cli/target.ts';

test.each([
  ['http://nas', undefined, '/cgi-bin/panel'],
  ['http://nas/', undefined, '/cgi-bin/panel'],
  ['http://nas/cgi-bin/panel', undefined, '/cgi-bin/panel'],
  ['http://nas/cgi-bin/panel/', undefined, '/cgi-bin/panel'],
  ['https://nas/box/depotd', undefined, '/box/depotd'],
  ['http://nas/box', '/cgi-bin/panel', '/box/cgi-bin/panel'],
  ['http://nas', '/elsewhere', '/elsewhere'],
  ['unix:/run/depotd.sock', undefined, '/cgi-bin/panel'],
  ['unix:/run/depotd.sock', '/elsewhere', '/elsewhere'],
])('--url %s with --base %s asks below %s', (url, base, prefix) => {
  expect(parseTarget(url, base).prefix).toBe(prefix);
});
