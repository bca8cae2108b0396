import { element } from '../../dom.js';
import { titleOf } from './item-words.js';

const COLOURS = 6;
/** Pictures are loaded a bit before they come into sight. */
const MARGIN = '200px';

/** Pictures of apps: each is asked for once, when it comes into sight. */
export function createIcons({ api }) {
  const loaded = new Map();
  const wanted = new WeakMap();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) {
          observer.unobserve(target);
          void showPicture(target);
        }
      }
    },
    { rootMargin: MARGIN },
  );
  /** Another version of an app may have another picture. */
  const load = ({ name, version }) => {
    const key = `${name} ${version}`;
    // A device that is gone is shown elsewhere.
    const picture = loaded.get(key) ?? api.icon(name).catch(() => undefined);
    loaded.set(key, picture);
    return picture;
  };
  const showPicture = async (box) => {
    const item = wanted.get(box);
    const url = await load(item);
    const isStale = wanted.get(box) !== item;
    if (url === undefined || isStale) return;
    box.replaceChildren(element('img', { src: url, alt: '' }));
  };
  return {
    /** A box with the first letter of the title, until there is a picture. */
    create: () => element('span', { className: 'letter', 'aria-hidden': 'true' }),
    show: (box, item) => {
      const known = wanted.get(box);
      if (known?.name === item.name && known.version === item.version) return;
      wanted.set(box, item);
      box.style.setProperty('--of-name', `var(--colour-${colourOf(item.name)})`);
      box.replaceChildren(([...titleOf(item)][0] ?? '').toUpperCase());
      if (item.has_icon) observer.observe(box);
      else observer.unobserve(box);
    },
  };
}

/** Always the same for the same name. */
function colourOf(name) {
  return (
    [...name].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) % 997, 7) % COLOURS
  );
}
