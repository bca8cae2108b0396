import { join } from 'node:path';

import { createTerminalText } from '../../src/panel/views/activity/terminal-text.js';
import { runCommand } from '../device/command.ts';
import type { TestDaemon } from '../device/daemon.ts';
import type { Browser } from '../panel/browser.ts';

const DEPOTCTL = join(import.meta.dirname, '../../dist/depotctl.mjs');
const COLUMNS = 92;
const SESSION = ['search photo', 'plan install photobackup', 'install -y photobackup', 'list'];
/** The terminal's colours, by `TextRun.colour`. */
const INKS = [
  ...['#d9dee7', '#8791a1', '#ff8f86', '#6fd6a2', '#e8c065', '#8fb0ff', '#dba1f5', '#6fd0dc'],
  ...['#d9dee7', '#a3adbc', '#ffaaa3', '#92e6bb', '#f5d68d', '#b0c7ff', '#e9c2fb', '#98e4ee'],
  '#ffffff',
];

/** What a few commands of depotctl print on a terminal, as a picture. */
export async function terminalPicture(browser: Browser, daemon: TestDaemon): Promise<Buffer> {
  const terminal = createTerminalText();
  for (const words of SESSION) {
    terminal.write(`\x1b[1;32mroot@OpenWrt\x1b[0m:~# depotctl ${words}\n`);
    terminal.write(await printed(daemon, words));
  }
  const { lines } = terminal.readChanges();
  const markup = lines
    .map((runs) => runs.map(({ text, colour, isBold }) => ink(text, colour, isBold)).join(''))
    .join('\n')
    .trimEnd();
  await browser.open('about:blank');
  await browser.evaluate(`{
    document.body.style = 'margin: 0; padding: 1.2rem 1.4rem; background: #14181f; color: #d9dee7; width: max-content';
    document.body.innerHTML = ${JSON.stringify(`<pre style="margin: 0; font: 15px/1.5 'DejaVu Sans Mono', monospace">${markup}</pre>`)};
  }`);
  const [width, height] = (await browser.evaluate(
    '((box) => [Math.ceil(box.right) + 22, Math.ceil(box.bottom) + 19])(document.querySelector("pre").getBoundingClientRect())',
  )) as [number, number];
  return browser.picture({ width, height, scheme: 'dark' });
}

/** On a terminal, so that it is coloured. */
async function printed({ url, base }: TestDaemon, words: string): Promise<string> {
  const command = `stty cols ${COLUMNS}; exec ${process.execPath} ${DEPOTCTL} --url ${url} --base ${base} ${words}`;
  const { stdout } = await runCommand(['script', '-qec', command, '/dev/null'], {
    env: { ...process.env, TERM: 'xterm-256color', NO_COLOR: '', LANG: 'C.UTF-8' },
  });
  return stdout;
}

function ink(text: string, colour: number, isBold: boolean): string {
  const escaped = text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  const weight = isBold ? ';font-weight:700' : '';
  return `<span style="color:${INKS[colour] ?? '#d9dee7'}${weight}">${escaped}</span>`;
}
