import { expect, test } from 'vitest';

import { languageOf } from '../../src/languages/language.js';
import { LANGUAGES } from '../../src/languages/languages.ts';

test.each([
  [['zh-cn'], 'zh-CN'],
  [['zh_Hans'], 'zh-CN'],
  [['zh'], 'zh-CN'],
  [['zh-SG'], 'zh-CN'],
  [['zh-Hans-HK'], 'zh-CN'],
  [['zh-TW'], 'zh-TW'],
  [['zh_Hant'], 'zh-TW'],
  [['zh-tw'], 'zh-TW'],
  [['zh-HK', 'zh', 'en'], 'zh-TW'],
  [['zh-Hant-MO'], 'zh-TW'],
  [['zh_TW.UTF-8'], 'zh-TW'],
  [['zh_CN.UTF-8'], 'zh-CN'],
  [['C.UTF-8'], 'en'],
  [['de', 'zh-CN', 'en'], 'zh-CN'],
  [['en-GB', 'zh-CN'], 'en'],
  [['de'], 'en'],
  [[''], 'en'],
  [['zhx', '"><script>'], 'en'],
  [[], 'en'],
])('who reads %j gets %s', (tags, language) => {
  expect(languageOf(tags, LANGUAGES)).toBe(language);
});
