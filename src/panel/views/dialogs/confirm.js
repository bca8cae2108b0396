import { byId } from '../../dom.js';
import { setDisabled } from '../../permission.js';

/** Asks before what cannot be undone, or not at once. @returns whether the answer was yes */
export async function confirm({ title, text, yes, no, isDangerous = false }) {
  const dialog = byId('confirm');
  byId('confirm-title').textContent = title;
  byId('confirm-text').textContent = text;
  byId('confirm-yes').textContent = yes;
  byId('confirm-yes').className = isDangerous ? 'danger' : 'primary';
  byId('confirm-no').textContent = no;
  setDisabled(byId('confirm-yes'), false);
  return (await askIn(dialog)) === 'yes';
}

/** @returns the value of the button that closed the dialog, `no` if it was closed otherwise */
export function askIn(dialog) {
  dialog.returnValue = 'no';
  dialog.showModal();
  return new Promise((resolve) => {
    const listen = () => {
      // The event of an earlier question may come when this one is open already.
      if (dialog.open) return;
      dialog.removeEventListener('close', listen);
      resolve(dialog.returnValue);
    };
    dialog.addEventListener('close', listen);
  });
}
