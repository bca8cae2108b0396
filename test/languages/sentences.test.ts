import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { createSpeaker, fill } from '../../src/languages/sentences.js';
import { processorMs } from '../support/processor-time.ts';

const say = createSpeaker({
  'it is full': 'er ist voll',
  'cannot {action}: {reason}': '{action} geht nicht: {reason}',
  'cannot {action}: the disk {disk} is gone': '{action} ohne {disk}',
  'install {package}': '{package} installieren',
  'It is held.': 'Es wird gehalten.',
  '{name} was changed.': '{name} ist anders.',
  'see {COMMAND}': 'siehe {COMMAND}',
  '{count} of {total} are there': 'von {total} sind {count} da',
  '{size} are free for it': 'frei: {size}',
  '{name} is empty': '{name} ist leer',
  '{FEED} ({URL}): {reason}': '{FEED} ({URL}) sagt: {reason}',
});

test.each([
  ['it is full', 'er ist voll'],
  ['cannot install demo: it is full', 'demo installieren geht nicht: er ist voll'],
  ['cannot install demo: the disk sda is gone', 'demo installieren ohne sda'],
  ['cannot wait: nobody knows', 'cannot wait: nobody knows'],
  ['3 of 4 are there', 'von 4 sind 3 da'],
  ['cannot install demo: it is held', 'demo installieren geht nicht: Es wird gehalten'],
  ['cannot install demo: lib was changed', 'demo installieren geht nicht: lib ist anders'],
  ['cannot install demo: 4 MB are free for it', 'demo installieren geht nicht: frei: 4 MB'],
  [
    'cannot install demo: lib is full: the disk sda is gone',
    'demo installieren geht nicht: lib is full: the disk sda is gone',
  ],
  ['lab (http://x): y is empty', 'lab (http://x) sagt: y ist leer'],
  ['made by lab (here): y is empty', 'made by lab (here): y ist leer'],
  ['see install demo', 'siehe install demo'],
  ['nobody knows', 'nobody knows'],
  ['cannot : it is full', 'cannot : it is full'],
  ['constructor', 'constructor'],
  ['', ''],
])('%j is said as %j', (sentence, translation) => {
  expect(say(sentence)).toBe(translation);
});

test('what stands for a name that was said before is said, too', () => {
  const sentences = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../src/languages/zh-CN.json'), 'utf8'),
  ) as { sentences: Record<string, string> };
  const inChinese = createSpeaker(sentences.sentences);

  expect(inChinese('it needs libx, which no feed offers')).toBe('它需要 libx，而没有软件源提供它');
  expect(inChinese('cannot install demo: no feed offers version 2.0 any more')).not.toMatch(
    /version|install/,
  );
  expect(
    inChinese('it is not installed; opkg was ended by signal 11; its last line is "Killed"'),
  ).toBe('它没有安装；opkg 终止于信号 11；它的最后一行是 "Killed"');
  expect(inChinese('it ended with exit code 1; its last line is "x: not found"')).toBe(
    '它以退出码 1 结束；它的最后一行是 "x: not found"',
  );
  const script = 'its script that runs after its installation';
  expect(inChinese(`cannot install x: ${script} ended with exit code 3: "no"`)).toBe(
    '无法安装 x：它安装后运行的脚本以退出码 3 结束："no"',
  );
  expect(inChinese(`cannot install x: ${script} was killed by signal 9: "no"`)).toBe(
    '无法安装 x：它安装后运行的脚本被信号 9 终止："no"',
  );
  expect(inChinese(`cannot install x: ${script} was not run: opkg could not begin it`)).toBe(
    '无法安装 x：它安装后运行的脚本没有运行：opkg 无法启动它',
  );
  expect(inChinese('there is no list of base, packages')).toBe('没有 base, packages 的列表');
});

test('reasons one behind the other are said one by one, and a count is a number', () => {
  const speak = createSpeaker({
    'no data at {path}': 'keine Daten in {path}',
    'nobody starts {program}; {option} can say it': 'niemand startet {program}; siehe {option}',
    'cannot go to {path}: {reasons}': 'nicht nach {path}: {reasons}',
    '{count} names': '{count} Namen',
  });

  expect(speak('cannot go to /x: nobody starts y; z can say it; no data at /y')).toBe(
    'nicht nach /x: niemand startet y; siehe z\uff1bkeine Daten in /y',
  );
  expect(speak('3 names')).toBe('3 Namen');
  expect(speak('change what the message names')).toBe('change what the message names');
});

test('a value is never taken for a place to fill in', () => {
  expect(say('cannot install $&{package}: {reason}')).toBe(
    '$&{package} installieren geht nicht: {reason}',
  );
});

test('a sentence that is made to be long is said at once', () => {
  const spentMs = processorMs(() => {
    say(`cannot ${': the disk '.repeat(20_000)}`);
    say(`cannot install demo: ${'it is full; x; '.repeat(20_000)}`);
  });

  expect(spentMs).toBeLessThan(1000);
});

test('beside a Chinese word there is none of the spaces that other words have in Chinese', () => {
  const text = '{task} 失败：缺少 {name} 的副本';
  const filled = (values: Record<string, string>): string => fill(text, (name) => values[name]);
  expect(filled({ task: '更新列表', name: '它' })).toBe('更新列表失败：缺少它的副本');
  expect(filled({ task: '安装 Demo', name: 'libdemo' })).toBe(
    '安装 Demo 失败：缺少 libdemo 的副本',
  );
  expect(filled({ name: '易有 云' })).toBe('{task} 失败：缺少易有 云的副本');
});
