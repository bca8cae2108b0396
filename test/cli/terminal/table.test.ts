import { expect, test } from 'vitest';

import { createPaint } from '../../../src/cli/terminal/paint.ts';
import { bytesText, formatFields, formatTable } from '../../../src/cli/terminal/table.ts';
import { widthOf, wrap, wrapMessage } from '../../../src/cli/terminal/width.ts';

const HEADINGS = ['NAME', 'STATE', 'WHAT'];
const ROWS = [
  ['demo', 'failed', 'cannot install demo: there is no space left on the device, 3 MB are needed'],
  ['去广告', 'done', '屏蔽广告的应用程序，适用于路由器和网络存储设备，安装简单，使用方便'],
];
const plain = createPaint(false);

test('what is no terminal gets each row on one line, whole', () => {
  const lines = formatTable(HEADINGS, ROWS, { columns: undefined, paint: plain }).split('\n');

  expect(lines).toHaveLength(4);
  expect(lines[1]).toBe(`demo    failed  ${ROWS[0]?.[2] ?? ''}`);
});

test.each([120, 80, 60, 50, 40, 30])(
  'at %i columns nothing is cut and nothing is wider',
  (columns) => {
    const text = formatTable(HEADINGS, ROWS, { columns, paint: plain });

    for (const line of text.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    const squeezed = text.replace(/\s+/g, '');
    for (const cell of ROWS.flat().slice(2)) {
      // Other columns stand between the lines of a wrapped cell in no case.
      expect(squeezed).toContain(cell.replace(/\s+/g, ''));
    }
  },
);

test('on a very narrow terminal a block is headed by what it is about', () => {
  const rows = [['install', 'a-package', 'because somebody asked for it']];
  const look = { columns: 30, paint: plain, titleAt: 1 };

  const lines = formatTable(['CHANGE', 'NAME', 'WHY'], rows, look).split('\n');

  expect(lines.slice(0, 2)).toEqual(['a-package', '  change  install']);
  expect(lines.join(' ')).not.toContain('name');
});

test.each<[message: string, lines: string[]]>([
  ['depotctl: short', ['depotctl: short']],
  [
    'depotctl: cannot install needmissing: it needs what no feed has',
    ['depotctl: cannot install needmissing:', '          it needs what no feed has'],
  ],
  [
    'depotctl:   \u2192 Update the lists, and then try it again.',
    ['depotctl:   \u2192 Update the lists, and', '              then try it again.'],
  ],
  [
    'depotctl: a word is missing\ndepotctl: see --help',
    ['depotctl: a word is missing', 'depotctl: see --help'],
  ],
])('a message is broken between words, below its text: %s', (message, lines) => {
  expect(wrapMessage(message, 38).split('\n')).toEqual(lines);
});

test('columns stand below each other, Chinese ones too', () => {
  const [head = '', first = '', second = ''] = formatTable(
    ['NAME', 'STATE'],
    [
      ['demo', 'done'],
      ['去广告', 'done'],
    ],
    { columns: 80, paint: plain },
  ).split('\n');

  expect(head.indexOf('STATE')).toBe(8);
  expect(first.indexOf('done')).toBe(8);
  expect(widthOf(second.slice(0, second.indexOf('done')))).toBe(8);
});

test('states are coloured for who wants it, and nothing else is changed by that', () => {
  const coloured = formatTable(HEADINGS, ROWS, { columns: 80, paint: createPaint(true) });

  expect(coloured).toContain('\x1b[31mfailed\x1b[0m');
  expect(coloured).toContain('\x1b[32mdone\x1b[0m');
  expect(coloured.replace(/\x1b\[\d+m/g, '')).toBe(
    formatTable(HEADINGS, ROWS, { columns: 80, paint: plain }),
  );
});

test('control characters in what others wrote do not reach the terminal', () => {
  const text = formatTable(['A'], [['\x1b[2Jgone\x07']], { columns: 80, paint: plain });

  expect(text).toBe('A\n[2Jgone\n');
  expect(formatFields([['a', 'x\ny\x1b']], { columns: 80, paint: plain })).toBe('a  x y \n');
});

test('fields that are empty are left out', () => {
  const fields = [
    ['name', 'demo'],
    ['license', ''],
  ] as const;

  expect(formatFields(fields, { columns: 80, paint: plain })).toBe('name     demo\n');
});

test.each([
  [0, '0 B'],
  [593, '593 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [1_500_000, '1.4 MiB'],
  [10_485_760, '10 MiB'],
  [1_073_741_823, '1.0 GiB'],
  [-2048, '-2.0 KiB'],
])('%i bytes are shown as %s', (bytes, text) => {
  expect(bytesText(bytes)).toBe(text);
});

test.each([
  '30 到 600 秒后自行撤销，除非执行 "depotctl confirm"；新软件包的可用空间为 77.84 GiB（/tmp/root），也不询问。',
  '点击“更新列表”时才检查新版本，以及它的“软件源”和“软件包”是否齐全；正在更新列表……，请稍候。',
])(
  'Chinese fills its lines, and no line begins with what ends a sentence or ends with what opens one',
  (text) => {
    for (let columns = 20; columns <= 60; columns += 1) {
      const lines = wrap(text, columns);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
      for (const line of lines) {
        expect(widthOf(line)).toBeLessThanOrEqual(columns);
        expect(line).not.toMatch(/^[，；。）”…]|[（“]$/);
      }
      for (const line of lines.slice(0, -1)) expect(widthOf(line)).toBeGreaterThan(columns - 15);
    }
  },
);
