import { useBrowser, type Send } from './browser-process.ts';

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
  /** Whether the system sets all colours, for contrast. */
  isForced?: boolean;
}

const LIMIT_MS = 30_000;

export interface BrowserOptions {
  /** What its user reads, best first; by default English. */
  languages?: readonly string[];
}

/**
 * One page in a profile of its own, as a private window has it: nothing is kept from one to the
 * next.
 */
export async function launchBrowser({
  languages = ['en-US'],
}: BrowserOptions = {}): Promise<Browser> {
  const { send, complaintsOf, leave } = useBrowser(languages);
  const { browserContextId } = (await send('Target.createBrowserContext')) as {
    browserContextId: string;
  };
  const page = { url: 'about:blank', browserContextId };
  const { targetId } = (await send('Target.createTarget', page)) as { targetId: string };
  const { sessionId } = (await send('Target.attachToTarget', { targetId, flatten: true })) as {
    sessionId: string;
  };
  const complaints = complaintsOf(sessionId);
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
      await send('Target.disposeBrowserContext', { browserContextId });
      leave();
    },
  };
}

async function picturePage(
  here: Send,
  { width, height, scheme, isForced = false }: Look,
): Promise<Buffer> {
  const size = { width, height, deviceScaleFactor: 1, mobile: false };
  await here('Emulation.setDeviceMetricsOverride', size);
  const features = [
    { name: 'prefers-color-scheme', value: scheme },
    { name: 'forced-colors', value: isForced ? 'active' : 'none' },
  ];
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
