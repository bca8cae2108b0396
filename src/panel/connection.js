import { Refused, Unreachable } from './api.js';
import { byId, element, setText } from './dom.js';
import { openStream } from './live.js';

const WORDS = { loading: 'Connecting …', up: 'Live', asking: 'Looking now and then', down: 'Connecting again …', login: 'Log-in needed' };

/**
 * Whether the daemon is there, and what it says of the whole device.
 * @param onUp called when the line is there, the first time and after each break
 * @param onJob gets every change of a task
 */
export function createConnection({ api, notices, onUp, onJob }) {
  const light = byId('link');
  let stream;

  const show = (state) => {
    light.dataset.state = state;
    setText(light, WORDS[state]);
  };
  const up = (state = 'up') => {
    show(state);
    notices.hide('connection');
    onUp();
  };
  const gone = (text) => {
    show('down');
    notices.show({ topic: 'connection', tone: 'warn', text: `${text} What you see may be old; this page goes on by itself when it is back. Tasks that were running go on.`, isLasting: true });
  };
  const askToLogIn = async () => {
    show('login');
    const page = await api.loginPage().catch(() => undefined);
    const action = element('a', { className: 'button', href: page ?? '/' }, ['Log in']);
    const text = page === undefined ? 'You are not logged in. Log in to the device’s admin panel, then come back to this page.' : 'You are not logged in.';
    notices.show({ topic: 'connection', tone: 'warn', text, action, isLasting: true });
  };
  /** Shows what went wrong, each kind in its way. */
  const report = (error) => {
    if (error instanceof Unreachable) gone(error.message);
    else if (error instanceof Refused && error.needsLogin) void askToLogIn();
    else if (error instanceof Refused) notices.show({ topic: 'refused', tone: 'bad', text: error.message });
    else throw error;
  };
  /** The stream does not tell why it broke; a question does. Where only the stream is refused, as by a web server with no room for one more, each attempt looks. */
  const findOut = () => {
    if (light.dataset.state === 'up') show('down');
    api.get('admin/store/token').then(() => up('asking'), report);
  };
  const open = () => {
    stream?.close();
    stream = openStream(() => 'admin/system/events', { listeners: { job: onJob }, onUp: () => up(), onDown: findOut });
  };

  open();
  return {
    report,
    pause: () => stream.close(),
    resume: open,
  };
}
