import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

export interface Browser {
  /** Opens an address in the one page, and waits until it has loaded. */
  open: (url: string) => Promise<void>;
  /** The value of an expression in the page. */
  evaluate: (expression: string) => Promise<unknown>;
  /** Waits until an expression in the page is true. */
  until: (expression: string) => Promise<void>;
  /** Runs a script in each page that is opened from now on, before the page's own. */
  runFirst: (script: string) => Promise<void>;
  /** Presses a key, as somebody at a keyboard does. */
  press: (key: Key) => Promise<void>;
  /** The page as PNG, in a window of that size. */
  picture: (look: Look) => Promise<Buffer>;
  /** What the page complained of: exceptions, and what its policy kept from running. */
  complaints: readonly string[];
  close: () => Promise<void>;
}

/** Keys by their code on Windows, which the protocol wants, and the text that they bring. */
const KEYS = {
  Tab: { code: 9, text: '' },
  Enter: { code: 13, text: '\r' },
  Escape: { code: 27, text: '' },
  ' ': { code: 32, text: ' ' },
  ArrowRight: { code: 39, text: '' },
} as const;
export type Key = keyof typeof KEYS;

export interface Look {
  width: number;
  height: number;
  scheme: 'light' | 'dark';
}

/** @returns the path of the first Chromium on PATH */
function findChromium(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const program = ['chromium', 'chromium-browser', 'google-chrome']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(existsSync);
  if (program !== undefined) return program;
  throw new Error('cannot look at a page without a browser; on Debian: apt-get install chromium');
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
];
const LIMIT_MS = 30_000;

export interface BrowserOptions {
  /** What its user reads, best first; by default English. */
  languages?: readonly string[];
}

/**
 * Drives Chromium by its own protocol (https://chromedevtools.github.io/devtools-protocol/) over a
 * pipe.
 */
export async function launchBrowser({
  languages = ['en-US'],
}: BrowserOptions = {}): Promise<Browser> {
  const program = findChromium();
  const profile = await mkdtemp(join(tmpdir(), 'depotd-browser-'));
  const child = spawn(
    program,
    [
      ...QUIET,
      `--accept-lang=${languages.join(',')}`,
      `--user-data-dir=${profile}`,
      '--remote-debugging-pipe',
      'about:blank',
    ],
    { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
  );
  const complaints: string[] = [];
  const send = createProtocol(child, complaints);
  const { targetInfos } = (await send('Target.getTargets')) as {
    targetInfos: { targetId: string; type: string }[];
  };
  const targetId = targetInfos.find(({ type }) => type === 'page')?.targetId;
  const { sessionId } = (await send('Target.attachToTarget', { targetId, flatten: true })) as {
    sessionId: string;
  };
  const here: Send = (method, params) => send(method, params, sessionId);
  for (const domain of ['Runtime', 'Log', 'Page']) await here(`${domain}.enable`);

  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = (await send(
      'Runtime.evaluate',
      // As if somebody had clicked: a page may open another one.
      { expression, awaitPromise: true, returnByValue: true, userGesture: true },
      sessionId,
    )) as { result: { value?: unknown; description?: string }; exceptionDetails?: object };
    if (exceptionDetails !== undefined) {
      throw new Error(`cannot evaluate ${expression}: ${result.description ?? ''}`);
    }
    return result.value;
  };
  const until = async (expression: string): Promise<void> => {
    const poll = `new Promise((done) => { const started = Date.now(); const look = () => (${expression}) ? done(true) : Date.now() - started > ${LIMIT_MS} ? done(false) : setTimeout(look, 30); look(); })`;
    const deadline = performance.now() + LIMIT_MS;
    // A page that goes elsewhere takes the question with it.
    const ask = (): Promise<unknown> =>
      evaluate(poll).catch((error: unknown) => {
        if (performance.now() > deadline || !/navigated|context/i.test(String(error))) throw error;
        return ask();
      });
    if ((await ask()) !== true) {
      throw new Error(
        `${expression} is not true after ${LIMIT_MS} ms; the page says: ${String(await evaluate('document.body.innerText'))}`,
      );
    }
  };
  return {
    open: async (url) => {
      await send('Page.navigate', { url }, sessionId);
      // Without a session the page goes on to the log-in at once.
      const login = `${url.replace(/#.*/, '')}admin/login`;
      const isThere = `[${JSON.stringify(url)}, ${JSON.stringify(login)}].includes(location.href)`;
      await until(`${isThere} && document.readyState === 'complete'`);
    },
    evaluate,
    until,
    runFirst: async (source) => {
      await here('Page.addScriptToEvaluateOnNewDocument', { source });
    },
    press: (key) => pressKey(here, key),
    picture: (look) => picturePage(here, look),
    complaints,
    close: async () => {
      const ended = new Promise((resolve) => child.on('exit', resolve));
      await send('Browser.close').catch(() => child.kill('SIGKILL'));
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function picturePage(here: Send, { width, height, scheme }: Look): Promise<Buffer> {
  const size = { width, height, deviceScaleFactor: 1, mobile: false };
  await here('Emulation.setDeviceMetricsOverride', size);
  const features = [{ name: 'prefers-color-scheme', value: scheme }];
  await here('Emulation.setEmulatedMedia', { features });
  await here('Emulation.setScrollbarsHidden', { hidden: true });
  const { data } = (await here('Page.captureScreenshot')) as { data: string };
  return Buffer.from(data, 'base64');
}

async function pressKey(send: Send, key: Key): Promise<void> {
  const { code, text } = KEYS[key];
  const event = { key, code: key === ' ' ? 'Space' : key, windowsVirtualKeyCode: code };
  const down = { type: text === '' ? 'rawKeyDown' : 'keyDown', ...event, text };
  await send('Input.dispatchKeyEvent', down);
  await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event });
}

interface Message {
  id?: number;
  method?: string;
  params?: {
    entry?: { level: string; text: string; url?: string };
    exceptionDetails?: { exception?: { description?: string } };
  };
  result?: object;
  error?: { message: string };
}

type Send = (method: string, params?: object, sessionId?: string) => Promise<object>;

/**
 * Messages are JSON, each with a NUL behind it; the browser reads from its descriptor 3 and writes
 * to 4.
 */
function createProtocol(child: ChildProcess, complaints: string[]): Send {
  const [, , , input, output] = child.stdio as unknown as [null, null, null, Writable, Readable];
  const waiting = new Map<
    number,
    { resolve: (result: object) => void; reject: (error: Error) => void }
  >();
  let lastId = 0;
  let rest = '';
  output.setEncoding('utf8').on('data', (piece: string) => {
    const texts = (rest + piece).split('\0');
    rest = texts.pop() ?? '';
    for (const text of texts) receive(JSON.parse(text) as Message);
  });
  const receive = ({ id = 0, params, result, error }: Message): void => {
    complaints.push(...complaintsIn(params));
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) answer?.resolve(result ?? {});
    else answer?.reject(new Error(error.message));
  };
  child.on('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the browser has ended'));
  });
  return (method, params = {}, sessionId?: string) =>
    new Promise((resolve, reject) => {
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      input.write(
        `${JSON.stringify({ id: lastId, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`,
      );
    });
}

function complaintsIn({ entry, exceptionDetails }: NonNullable<Message['params']> = {}): string[] {
  const logged =
    entry?.level === 'error' ? [[entry.text, entry.url].filter(Boolean).join(' ')] : [];
  return exceptionDetails === undefined
    ? logged
    : [...logged, exceptionDetails.exception?.description ?? 'exception'];
}
