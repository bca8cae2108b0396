import { expect, test } from 'vitest';

import { languageOf } from '../../src/languages/language.js';
import { LANGUAGES } from '../../src/languages/languages.ts';

test.each([
  [['zh-cn'], 'zh-CN'],
  [['zh_Hans'], 'zh-CN'],
  [['zh'], 'zh-CN'],
  [['zh-SG'], 'zh-CN'],
  [['zh-Hans-HK'], 'zh-CN'],
  [['zh-TW'], 'en'],
  [['zh-Hant'], 'en'],
  [['zh-TW', 'zh', 'en'], 'zh-CN'],
  [['de', 'zh-CN', 'en'], 'zh-CN'],
  [['en-GB', 'zh-CN'], 'en'],
  [['de'], 'en'],
  [[''], 'en'],
  [['zhx', '"><script>'], 'en'],
  [[], 'en'],
])('who reads %j gets %s', (tags, language) => {
  expect(languageOf(tags, LANGUAGES)).toBe(language);
});
