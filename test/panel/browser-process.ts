import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { isOnPath } from '../../packaging/debian-packages.mjs';
import { BROWSER } from '../support/test-groups.ts';

export type Send = (method: string, params?: object, sessionId?: string) => Promise<object>;

/** https://chromedevtools.github.io/devtools-protocol/, over a pipe. */
interface Protocol {
  send: Send;
  /** What the page of a session complains of from now on. */
  complaintsOf: (sessionId: string) => readonly string[];
}

function findBrowser(): string {
  if (isOnPath(BROWSER)) return BROWSER;
  throw new Error(`cannot look at a page without a browser; on Debian: apt-get install ${BROWSER}`);
}

const QUIET = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // None is kept ready for a page that may come.
  '--renderer-process-limit=1',
];

interface RunningBrowser extends Protocol {
  /** How many tests have a page in it. */
  uses: number;
  child: ChildProcess;
}

/** By the languages of its user. */
const running = new Map<string, RunningBrowser>();

/**
 * The browser of this process, which ends with it: to start one costs more than what most tests do
 * in it. One that nobody uses makes room for one of other languages.
 *
 * @returns `leave` for whoever is done with it
 */
export function useBrowser(languages: readonly string[]): Protocol & { leave: () => void } {
  const wanted = languages.join(',');
  for (const [known, { child, uses }] of running) {
    if (child.exitCode === null && (uses > 0 || known === wanted)) continue;
    running.delete(known);
    inputOf(child).end();
  }
  const browser = running.get(wanted) ?? start(wanted);
  running.set(wanted, browser);
  browser.uses += 1;
  holdProcess(browser.child, true);
  return {
    ...browser,
    leave: () => {
      browser.uses -= 1;
      if (browser.uses === 0) holdProcess(browser.child, false);
    },
  };
}

/** Without an end of the pipe it ends, however this process went, and leaves nothing. */
function start(languages: string): RunningBrowser {
  const profile = mkdtempSync(join(tmpdir(), 'depotd-browser-'));
  const child = spawn(
    'sh',
    [
      '-c',
      '"$@"; rm -rf "$0"',
      profile,
      findBrowser(),
      ...QUIET,
      `--accept-lang=${languages}`,
      `--user-data-dir=${profile}`,
      '--remote-debugging-pipe',
      '--no-startup-window',
    ],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  return { uses: 0, child, ...createProtocol(child) };
}

const inputOf = ({ stdio }: ChildProcess): Socket => stdio[3] as Socket;
const outputOf = ({ stdio }: ChildProcess): Socket => stdio[4] as Socket;

/** Whether this process waits for the other one before it ends. */
function holdProcess(child: ChildProcess, isHeld: boolean): void {
  for (const held of [child, inputOf(child), outputOf(child)]) {
    if (isHeld) held.ref();
    else held.unref();
  }
}

interface Message {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: {
    entry?: { level: string; text: string; url?: string };
    exceptionDetails?: { exception?: { description?: string } };
  };
  result?: object;
  error?: { message: string };
}

/**
 * Messages are JSON, each with a NUL behind it; the browser reads from its descriptor 3 and writes
 * to 4.
 */
function createProtocol(child: ChildProcess): Protocol {
  const waiting = new Map<
    number,
    { resolve: (result: object) => void; reject: (error: Error) => void }
  >();
  const complaints = new Map<string, string[]>();
  let lastId = 0;
  let rest = '';
  outputOf(child)
    .setEncoding('utf8')
    .on('data', (piece: string) => {
      const texts = (rest + piece).split('\0');
      rest = texts.pop() ?? '';
      for (const text of texts) receive(JSON.parse(text) as Message);
    });
  const receive = ({ id = 0, sessionId = '', params, result, error }: Message): void => {
    complaints.get(sessionId)?.push(...complaintsIn(params));
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) answer?.resolve(result ?? {});
    else answer?.reject(new Error(error.message));
  };
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the browser has ended'));
  });
  return {
    send: (method, params = {}, sessionId?: string) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        inputOf(child).write(
          `${JSON.stringify({ id: lastId, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`,
        );
      }),
    complaintsOf: (sessionId) => {
      const list: string[] = [];
      complaints.set(sessionId, list);
      return list;
    },
  };
}

function complaintsIn({ entry, exceptionDetails }: NonNullable<Message['params']> = {}): string[] {
  const logged =
    entry?.level === 'error' ? [[entry.text, entry.url].filter(Boolean).join(' ')] : [];
  return exceptionDetails === undefined
    ? logged
    : [...logged, exceptionDetails.exception?.description ?? 'exception'];
}
