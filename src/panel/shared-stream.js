import { keep, readKept } from './kept.js';
import { openStream } from './live.js';

/** How long nobody answers before a page opens a stream of its own. */
const ANSWER_MS = 100;
/** The same if one is known to hold a stream: it may be slow, or have ended without a word. */
const HELD_MS = 3000;
/** How often a page looks whether the one that it hears from is still there. */
const WATCH_MS = 5000;

/**
 * A stream that all pages of this origin share, as small web servers have room for few: one page
 * holds it and tells the others what it brings. Each may be the one: whoever hears of none opens
 * one, of two that are open the page with the lesser name keeps its own, and a page that goes says
 * so. Whether one holds it is kept, for those that come. (Web Locks would choose one, and are not
 * there without HTTPS.)
 * Options as of `openStream`; `onUp` is called on the other pages, too, when they hear of it, and
 * again when something may have been missed.
 */
export function openSharedStream(address, { listeners, onUp, onCut, poll }) {
  const own = `${Math.random()}`;
  const shared = `depotd:${new URL(address, location.href)}`;
  const channel = new BroadcastChannel(shared);
  let stream;
  let holder;
  let isAnswered = false;
  let timer;

  const post = (what, more) => channel.postMessage({ what, from: own, ...more });
  const seek = (answerMs) => {
    holder = undefined;
    clearTimeout(timer);
    post('who');
    timer = setTimeout(hold, answerMs * (1 + Math.random()));
  };
  const hold = () => {
    stream ??= openStream(() => address, {
      listeners: Object.fromEntries(Object.keys(listeners).map((name) => [name, passOn(name)])),
      onUp: () => {
        holder = own;
        keep(shared, own);
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
  const passOn = (name) => (data) => {
    post('event', { name, data });
    listeners[name](data);
  };
  const letGo = () => {
    if (holder !== own) return;
    holder = undefined;
    keep(shared, '');
    post('gone');
  };
  const follow = (name) => {
    stream?.close();
    stream = undefined;
    holder = name;
    watch();
    onUp();
  };
  const watch = () => {
    clearTimeout(timer);
    isAnswered = false;
    timer = setTimeout(() => {
      post('who');
      timer = setTimeout(() => (isAnswered ? watch() : seek(ANSWER_MS)), HELD_MS);
    }, WATCH_MS);
  };
  const receivers = {
    who: () => holder === own && post('here', { isAnswer: true }),
    here: ({ from, isAnswer }) => {
      isAnswered ||= from === holder;
      if (holder === own && own < from) post('here');
      else if (from !== holder || isAnswer !== true) follow(from);
    },
    gone: ({ from }) => from === holder && seek(ANSWER_MS),
    event: ({ from, name, data }) => from === holder && listeners[name](data),
  };
  channel.onmessage = ({ data }) => receivers[data.what](data);

  seek(readKept(shared) === '' ? ANSWER_MS : HELD_MS);
  return {
    close: () => {
      letGo();
      clearTimeout(timer);
      stream?.close();
      channel.close();
    },
  };
}
