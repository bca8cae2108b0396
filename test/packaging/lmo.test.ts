import { expect, test } from 'vitest';

import { createLmo, sfhHash } from '../../packaging/lmo.ts';
import { parsePoFile } from '../../packaging/po-file.ts';
import { readLmo } from './lmo-reader.ts';

const PO = `# a comment
msgid ""
msgstr ""
"Language: xx\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"

#: somewhere.js:12
msgid "Apps"
msgstr "应用"

msgctxt "log level"
msgid "nothing"
msgstr "无"

msgid "nothing"
msgstr "没有"

msgid "%d app"
msgid_plural "%d apps"
msgstr[0] "%d App"
msgstr[1] "%d Äpps"

msgctxt "menu"
msgid "%d app"
msgid_plural "%d apps"
msgstr[0] "one"
msgstr[1] "many"

msgid "say \\"hello\\", C:\\\\x and \\n"
msgstr "sag \\"hallo\\""

msgid "a text "
"of two lines"
msgstr ""
"ein Text "
"aus zweien"

msgid "not translated"
msgstr ""

msgid "OK"
msgstr "OK"
`;

test('every kind of message is found again: context, plural forms, quotes, several lines', () => {
  const catalogue = readLmo(createLmo(parsePoFile(PO)));

  expect(catalogue.pluralRule).toBe('nplurals=2; plural=(n != 1);');
  expect(catalogue.translate('Apps')).toBe('应用');
  expect(catalogue.translate(' Apps ')).toBe('应用');
  expect(catalogue.translate('nothing', 'log level')).toBe('无');
  expect(catalogue.translate('nothing')).toBe('没有');
  expect([0, 1, 2].map((form) => catalogue.translateForm('%d app', form))).toEqual([
    '%d App',
    '%d Äpps',
    undefined,
  ]);
  expect(catalogue.translateForm('%d app', 1, 'menu')).toBe('many');
  expect(catalogue.translate('say "hello", C:\\x and \\n')).toBe('sag "hallo"');
  expect(catalogue.translate('a text of two lines')).toBe('ein Text aus zweien');
});

test('what is not translated is not found, so that the text itself shows', () => {
  const catalogue = readLmo(createLmo(parsePoFile(PO)));

  expect(catalogue.translate('not translated')).toBeUndefined();
  expect(catalogue.translate('OK')).toBeUndefined();
  expect(catalogue.translate('never heard of')).toBeUndefined();
});

test('a thousand messages are all found by halves', () => {
  const names = Array.from({ length: 1000 }, (_, at) => `message ${at}${'é'.repeat(at % 7)}`);
  const po = names.map((name) => `msgid "${name}"\nmsgstr "<${name}>"\n`).join('\n');

  const catalogue = readLmo(createLmo(parsePoFile(po)));

  expect(names.filter((name) => catalogue.translate(name) !== `<${name}>`)).toEqual([]);
});

/** Taken from files that LuCI's own po2lmo made. */
test.each([
  ['Apps', 0xe0bf77c2],
  ['a', 0x115ea782],
  ['ab', 0x516b8b44],
  ['é', 0xc4fba554],
  ['aé', 0xe3d9c55b],
  ['System → Apps (depotd)', 0xd3a5bd2a],
])('the key of %j is that of LuCI', (text, key) => {
  expect(sfhHash(Buffer.from(text))).toBe(key);
});

test.each([
  ['msgid "open\n', 'line 1'],
  ['\n"lost"\n', 'line 2'],
  ['msgid "a"\nmsgstr "b"\nmsgid c\n', 'line 3'],
  ['nonsense\n', 'line 1'],
])('%j is refused with its line', (text, line) => {
  expect(() => parsePoFile(text)).toThrow(`cannot read ${line}: `);
});
