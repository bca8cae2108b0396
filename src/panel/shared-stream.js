import { openStream } from './live.js';

/** How long nobody answers before a page opens a stream of its own. */
const ANSWER_MS = 100;
/** How often a page looks whether the one that it hears from is still there. */
const WATCH_MS = 5000;

/**
 * A stream that all pages of this origin share, as small web servers have room for few: one page
 * holds it and tells the others what it brings. Each may be the one: whoever hears of none opens
 * one, of two that are open the page with the lesser name keeps its own, and a page that goes says
 * so. (Web Locks would choose one, and are not there without HTTPS.)
 * Options as of `openStream`; `onUp` is called on the other pages, too, when they hear of it, and
 * again when something may have been missed.
 */
export function openSharedStream(address, { listeners, onUp, onCut, poll }) {
  const own = `${Math.random()}`;
  const channel = new BroadcastChannel(`depotd:${new URL(address, location.href)}`);
  let stream;
  let isHolder = false;
  let holder;
  let isAnswered = false;
  let timer;

  const post = (what, more) => channel.postMessage({ what, from: own, ...more });
  const seek = () => {
    holder = undefined;
    clearTimeout(timer);
    post('who');
    timer = setTimeout(hold, ANSWER_MS * (1 + Math.random()));
  };
  const hold = () => {
    stream ??= openStream(() => address, {
      listeners: Object.fromEntries(
        Object.entries(listeners).map(([name, listen]) => [name, passOn(name, listen)]),
      ),
      onUp: () => {
        isHolder = true;
        post('here');
        onUp();
      },
      onCut,
      poll: () => {
        letGo();
        return poll();
      },
    });
  };
  const passOn = (name, listen) => (data) => {
    post('event', { name, data });
    listen(data);
  };
  const letGo = () => {
    if (isHolder) post('gone');
    isHolder = false;
  };
  const follow = (name) => {
    stream?.close();
    stream = undefined;
    isHolder = false;
    holder = name;
    watch();
    onUp();
  };
  const watch = () => {
    clearTimeout(timer);
    isAnswered = false;
    timer = setTimeout(() => {
      post('who');
      timer = setTimeout(() => (isAnswered ? watch() : seek()), ANSWER_MS * 10);
    }, WATCH_MS);
  };
  const receivers = {
    who: () => isHolder && post('here', { isAnswer: true }),
    here: ({ from, isAnswer }) => {
      isAnswered ||= from === holder;
      if (isHolder && own < from) post('here');
      else if (from !== holder || isAnswer !== true) follow(from);
    },
    gone: ({ from }) => from === holder && seek(),
    event: ({ from, name, data }) => from === holder && listeners[name](data),
  };
  channel.onmessage = ({ data }) => receivers[data.what](data);

  seek();
  return {
    close: () => {
      letGo();
      clearTimeout(timer);
      stream?.close();
      channel.close();
    },
  };
}
