import { Refused, Unreachable } from './api.js';
import { byId, element, setText } from './dom.js';
import { t } from './i18n.js';
import { setLoggedOut } from './permission.js';
import { openSharedStream } from './shared-stream.js';

const WORDS = {
  up: () => t('Live'),
  polling: () => t('Updated every 2 s'),
  down: () => t('Connecting again …'),
  login: () => t('Log-in needed'),
};

/**
 * Whether the daemon is there, and what it says of the whole device.
 * @param embedding whoever embeds the page may log it in
 * @param onUp called when the line is there, the first time and after each break
 * @param onJob gets every change of a task
 * @param poll asks for the tasks once, while there is no stream that brings them
 * @param onLeave called before the page is left for the log-in
 */
export function createConnection({ api, notices, embedding, onUp, onJob, poll, onLeave }) {
  const light = byId('link');
  let stream;
  let ups = 0;

  const show = (state) => {
    light.dataset.state = state;
    setText(light, WORDS[state]());
  };
  const up = (state) => {
    ups += 1;
    show(state);
    byId('logout').hidden = api.loginPage === undefined || embedding.isLoggedInByParent;
    notices.hide('connection');
    onUp();
  };
  const gone = (problem) => {
    // A stream may not have noticed yet; a new one tells when the daemon is back.
    if (light.dataset.state === 'up') open();
    show('down');
    notices.show({
      topic: 'connection',
      tone: 'warn',
      text: t(
        '{problem} What you see may be old; this page goes on by itself when it is back. ' +
          'Tasks that were running go on.',
        { problem },
      ),
      isLasting: true,
    });
  };
  const askToLogIn = () => {
    // Without a session there is nothing to log out of.
    byId('logout').hidden = true;
    setLoggedOut();
    // Whoever embeds this page may load both anew to log in.
    onLeave();
    if (embedding.isLoggedInByParent) embedding.askForLogin();
    // Who has just come has nothing here that could be lost.
    else if (ups === 0 && api.loginPage !== undefined) location.replace(api.loginPage);
    show('login');
    const link = embedding.loginLink ?? { href: api.loginPage ?? '/' };
    offerLogin(notices, { ...link, onclick: onLeave });
  };
  /** Shows what went wrong, each kind in its way. */
  const report = (error) => {
    if (error instanceof Unreachable) gone(error.message);
    else if (error instanceof Refused && error.needsLogin) askToLogIn();
    else if (error instanceof Refused) {
      notices.show({ topic: 'refused', tone: 'bad', text: error.message });
    } else throw error;
  };
  /** A refusal of what anybody may ask: the daemon is on its way down, or up. */
  const lost = (error) =>
    error instanceof Refused && !error.needsLogin
      ? gone(t('The app service does not answer: {reason}.', { reason: error.message }))
      : report(error);
  /** Asks why a stream was cut, as it does not say. One that is open again at once is no news. */
  const findOut = () => api.get('admin/store/token').catch(lost);
  const ask = async () => {
    const before = ups;
    try {
      await poll();
      // The line may have come meanwhile.
      if (ups === before && light.dataset.state !== 'polling') up('polling');
    } catch (error) {
      lost(error);
    }
  };
  const open = () => {
    stream?.close();
    stream = openSharedStream('admin/system/events', {
      listeners: { job: onJob },
      onUp: () => up('up'),
      onCut: findOut,
      poll: ask,
    });
  };

  open();
  return {
    report,
    pause: () => stream.close(),
    resume: open,
  };
}

/** At the head of the page, and in every dialogue. */
function offerLogin(notices, link) {
  for (const each of document.querySelectorAll('.log-in a')) Object.assign(each, link);
  const action = element('a', { className: 'button', ...link }, [t('Log in')]);
  const text = t('You are not logged in any more.');
  notices.show({ topic: 'connection', tone: 'warn', text, action, isLasting: true });
}
