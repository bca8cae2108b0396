import { Refused, Unreachable } from './api.js';
import { element, setText } from './dom.js';
import { t } from './i18n.js';

/** An answer that is not there after this is said to be slow. */
const SLOW_MS = 4000;
/** What is shown for something else stays for so long without a word. */
const OTHER_MS = 700;
const FIRST_RETRY_MS = 4000;
const LONGEST_RETRY_MS = 60_000;

/**
 * Loads something and says how that goes. Single flight: who asks while it is under way gets one
 * more run after it. What failed is tried again, less and less often, and at a click.
 * @param state element for what is to be said; hidden while there is nothing
 * @param load gets an AbortSignal; resolves when what it brought is shown
 * @param onGone gets errors that concern the whole page: nobody answers, or nobody is logged in
 * @returns `{ load, cancel }`, where `load` never rejects
 */
export function createLoader({ state, load, onGone }) {
  const line = createStateLine(state, () => void run());
  let abort;
  let running;
  let isWanted = false;
  let isLoaded = false;
  let isAnother = false;
  let timer;
  let delayMs = FIRST_RETRY_MS;

  const fail = (error, isOther) => {
    if (error.name === 'AbortError') return;
    const isRefused = error instanceof Refused && !error.needsLogin;
    if (!isRefused && !(error instanceof Unreachable) && !error.needsLogin) throw error;
    if (!isRefused) onGone(error);
    if (!isLoaded || isOther || isRefused) line.showFailure(error.message);
    // What is refused now is refused again, unless the daemon itself is in trouble.
    if (isRefused ? error.status < 500 : error.needsLogin) return;
    timer = setTimeout(run, delayMs);
    delayMs = Math.min(2 * delayMs, LONGEST_RETRY_MS);
  };
  const once = async () => {
    isWanted = false;
    clearTimeout(timer);
    abort = new AbortController();
    const isOther = isAnother;
    if (!isLoaded) line.showLoading(0);
    else if (isOther) line.showLoading(OTHER_MS);
    isAnother = false;
    const { signal } = abort;
    try {
      await load(signal);
      if (signal.aborted) return;
      isLoaded = true;
      delayMs = FIRST_RETRY_MS;
      line.hide();
    } catch (error) {
      if (!signal.aborted) fail(error, isOther);
    }
  };
  const loop = async () => {
    do await once();
    while (isWanted);
    running = undefined;
  };
  const run = () => {
    if (running !== undefined) isWanted = true;
    return (running ??= loop());
  };
  return {
    load: run,
    /** What is under way is for something that is not wanted any more, such as another search. */
    restart: () => {
      isAnother = true;
      abort?.abort();
      return run();
    },
    cancel: () => {
      clearTimeout(timer);
      isWanted = false;
      abort?.abort();
    },
  };
}

function createStateLine(state, onRetry) {
  const text = element('p');
  const retry = element('button', { type: 'button', onclick: onRetry }, [t('Try again')]);
  let timer;
  state.replaceChildren(text, retry);
  const show = (words, canRetry) => {
    clearTimeout(timer);
    setText(text, words);
    retry.hidden = !canRetry;
    state.hidden = false;
  };
  return {
    showLoading: (afterMs) => {
      const slow = t('The device is taking long to answer. Still waiting …');
      const showSlow = () => show(slow, false);
      const showNow = () => {
        show(t('Loading …'), false);
        timer = setTimeout(showSlow, SLOW_MS);
      };
      clearTimeout(timer);
      if (afterMs === 0) showNow();
      else timer = setTimeout(showNow, afterMs);
    },
    showFailure: (reason) => show(t('This cannot be shown: {reason}', { reason }), true),
    hide: () => {
      clearTimeout(timer);
      state.hidden = true;
    },
  };
}
