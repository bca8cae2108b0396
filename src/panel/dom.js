/** The element with this id; the page's markup has it. */
export function byId(id) {
  return document.getElementById(id);
}

/**
 * Makes an element. Children are elements or text; text never becomes markup. Of the properties
 * those that begin with `on` are listeners, `dataset` is an object, those with a dash or named
 * `role` are attributes, the others properties of the element.
 */
export function element(tag, properties = {}, children = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) setProperty(made, name, value);
  made.append(...children);
  return made;
}

function setProperty(target, name, value) {
  if (name.startsWith('on')) target.addEventListener(name.slice(2), value);
  else if (name === 'dataset') Object.assign(target.dataset, value);
  else if (name.includes('-') || name === 'role') target.setAttribute(name, value);
  else target[name] = value;
}

const SVG = 'http://www.w3.org/2000/svg';

/** One of the symbols at the head of the page, for the eye only. */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg');
  const use = document.createElementNS(SVG, 'use');
  svg.classList.add('icon');
  svg.setAttribute('aria-hidden', 'true');
  use.setAttribute('href', `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** A button with a symbol; the label says more to those who cannot see what it stands beside. */
export function iconButton({ symbol, text, label = text, onclick, className = '' }) {
  return element('button', { type: 'button', className, 'aria-label': label, onclick }, [
    icon(symbol),
    text,
  ]);
}

/**
 * Writes text only where it differs: what is the same is not read out again, and a selection in it
 * stays.
 */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * Keeps a list's rows: a row stays the same element for as long as its key is there, so that focus
 * and what is open in it stay, too.
 * @param create makes `{ element, update(item), close?() }` for an item
 */
export function createRows(list, { keyOf, create }) {
  const rows = new Map();
  return (items) => {
    const keys = new Set(items.map(keyOf));
    for (const [key, row] of rows) {
      if (keys.has(key)) continue;
      row.close?.();
      row.element.remove();
      rows.delete(key);
    }
    let next = list.firstElementChild;
    for (const item of items) {
      const key = keyOf(item);
      if (!rows.has(key)) rows.set(key, create(item));
      const row = rows.get(key);
      row.update(item);
      if (row.element === next) next = next.nextElementSibling;
      else list.insertBefore(row.element, next);
    }
  };
}
