import { expect, test } from 'vitest';

import { errors, startDevice } from './start-device.ts';

const TRUE = 0;
const FALSE = 1;

test.each([
  ['1.0-1 = 1.0-1', TRUE],
  ['1.0-1 << 1.0-2', TRUE],
  ['1.0-10 >> 1.0-9', TRUE],
  ['1.10 >> 1.9', TRUE],
  ['1.0 << 1.0-1', TRUE],
  ['1.0~rc1 << 1.0', TRUE],
  ['1.0a >> 1.0', TRUE],
  ['1.0+git >> 1.0a', TRUE],
  ['01.0 = 1.0', TRUE],
  ['1:1 >> 2', TRUE],
  ['0:2 = 2', TRUE],
  ['2021-01-01-1 << 2021-01-01-2', TRUE],
  ['1.0 >= 1.1', FALSE],
  ['1.1 <= 1.0', FALSE],
  ['1.0 << 1.0', FALSE],
  // One sign alone means "or equal".
  ['1.0 < 1.0', TRUE],
  ['1.0 > 1.0', TRUE],
])('compare-versions %s exits with %i', async (comparison, code) => {
  const { opkg } = await startDevice();

  expect(await opkg('compare-versions', ...comparison.split(' '))).toEqual({
    code,
    stdout: '',
    stderr: '',
  });
});

test('compare-versions knows no other relation and no other number of words', async () => {
  const { opkg } = await startDevice();

  expect(await opkg('compare-versions', '1', 'lt', '2')).toEqual({
    code: FALSE,
    stdout: '',
    stderr: errors('pkg_version_satisfied: Unknown operator: lt.'),
  });
  expect(await opkg('compare-versions', '1', '<<')).toEqual({
    code: 255,
    stdout: '',
    stderr: errors(
      'opkg_compare_versions_cmd: opkg compare_versions <v1> <op> <v2>\n<op> is one of <= >= << >> =',
    ),
  });
});
