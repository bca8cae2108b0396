import { expect, test } from 'vitest';

import { pageLanguage } from '../../../src/features/login/routes.ts';

test.each([
  ['', undefined, 'en'],
  ['', '', 'en'],
  ['', '*', 'en'],
  ['', 'zh-CN,zh;q=0.9,en;q=0.8', 'zh-CN'],
  ['', 'en;q=0.5, zh-CN', 'zh-CN'],
  ['', 'zh-CN;q=0.3, en;q=0.7', 'en'],
  ['', 'zh-CN;q=0, de', 'en'],
  ['', 'zh-CN;q=x, en', 'en'],
  ['?lang=zh-cn', 'en', 'zh-CN'],
  ['?lang=en', 'zh-CN', 'en'],
  ['?lang=de', 'zh-CN', 'en'],
  ['?lang=', 'zh-CN', 'en'],
] as const)('with the query %j and Accept-Language %j the log-in page is in %s', (...row) => {
  const [query, accepted, language] = row;
  const headers = new Headers(accepted === undefined ? {} : { 'accept-language': accepted });

  expect(pageLanguage(new Request(`http://device/admin/login${query}`, { headers }))).toBe(
    language,
  );
});
