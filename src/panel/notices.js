import { button, byId, element } from './dom.js';
import { t } from './i18n.js';

/**
 * Messages at the head of the page. One of each topic at most; a new one replaces the old one.
 * @returns `{ show({ topic, tone, text, action? }), hide(topic), announce(text) }`, where `action`
 *   is an element such as a link
 */
export function createNotices() {
  const list = byId('notices');
  const announcer = byId('announcer');
  const shown = new Map();

  const hide = (topic) => {
    shown.get(topic)?.box.remove();
    shown.delete(topic);
  };
  return {
    show: ({ topic, tone, text, action, isLasting = false }) => {
      if (shown.get(topic)?.text === text) return;
      hide(topic);
      const close = button({
        symbol: 'close',
        label: t('Close this message'),
        className: 'quiet',
        onclick: () => hide(topic),
      });
      const extras = [...(action === undefined ? [] : [action]), ...(isLasting ? [] : [close])];
      const box = element(
        'div',
        { className: 'notice', role: tone === 'bad' ? 'alert' : 'status', dataset: { tone } },
        [element('p', {}, [text]), ...extras],
      );
      shown.set(topic, { box, text });
      list.append(box);
      // What is refused may have been asked for further down.
      if (tone === 'bad') box.scrollIntoView({ block: 'nearest' });
    },
    hide,
    /** Says it to those who listen to the page. */
    announce: (text) => (announcer.textContent = text),
  };
}
