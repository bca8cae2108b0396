import { byId } from '../dom.js';

/** Asks before what cannot be taken back, or not at once. @returns whether the answer was yes */
export function confirm({ title, text, yes, no, isDangerous = false }) {
  const dialog = byId('confirm');
  byId('confirm-title').textContent = title;
  byId('confirm-text').textContent = text;
  byId('confirm-yes').textContent = yes;
  byId('confirm-yes').className = isDangerous ? 'danger' : 'primary';
  byId('confirm-no').textContent = no;
  dialog.returnValue = 'no';
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), { once: true }),
  );
}
