import { applyPermission } from './permission.js';

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
  if ('write' in made.dataset) applyPermission(made);
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

/**
 * A button. Its label says more to those who cannot see what it stands beside.
 * @param isWrite whether it changes something on the device
 */
export function button({ text, onclick, symbol, label, className = '', isWrite = false }) {
  return element(
    'button',
    {
      type: 'button',
      className,
      onclick,
      ...(label !== undefined && { 'aria-label': label }),
      dataset: isWrite ? { write: '' } : {},
    },
    [...(symbol === undefined ? [] : [icon(symbol)]), text ?? ''],
  );
}

/** A paragraph, a heading or the like that is text and nothing else. */
export function textElement(tag, text, className = '') {
  return element(tag, { className }, [text]);
}

/** Rows of a `dl`, of pairs of a name and a text or element; those without a value are left out. */
export function factRows(facts) {
  return facts
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) =>
      element('div', {}, [textElement('dt', name), element('dd', {}, [value])]),
    );
}

/** Writes text only where it differs: the same is not read out again, and stays selected. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/** Hides an element; the focus in it goes to `next`, if that can have it. */
export function setHidden(target, isHidden, next) {
  const hadFocus = isHidden && target.contains(document.activeElement);
  target.hidden = isHidden;
  if (hadFocus) next?.focus();
}

/** Fills a row anew: the focus in it stays at the button of the same label, or the same place. */
export function refill(row, children) {
  const labelOf = (each) => each.getAttribute('aria-label');
  const focused = document.activeElement;
  const at = [...row.querySelectorAll('button')].indexOf(focused);
  row.replaceChildren(...children);
  const buttons = [...row.querySelectorAll('button')];
  const same = buttons.find((each) => labelOf(each) === labelOf(focused));
  if (at >= 0) (same ?? buttons[at])?.focus();
}

/**
 * Keeps a list's rows: a row stays the same element for as long as its key is there, so that focus
 * and what is open in it stay, too. The focus of a row that goes is the next row's, or else the
 * fallback's.
 * @param create makes `{ element, update(item), close?() }` for an item
 * @param fallback an element that can have the focus when no row is left
 */
export function createRows(list, { keyOf, create, fallback }) {
  const rows = new Map();
  const remove = (key) => {
    const { element: row, close } = rows.get(key);
    const next = row.contains(document.activeElement)
      ? (row.nextElementSibling ?? row.previousElementSibling)
      : undefined;
    close?.();
    row.remove();
    rows.delete(key);
    if (next !== undefined) (firstControl(next) ?? fallback)?.focus();
  };
  return (items) => {
    const keys = new Set(items.map(keyOf));
    for (const key of [...rows.keys()]) if (!keys.has(key)) remove(key);
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

function firstControl(row) {
  return row?.querySelector('a[href]:not([hidden]), button:not([hidden], :disabled)');
}
