import { byId } from '../../dom.js';
import { setDisabled } from '../../permission.js';

/**
 * What the device stands on goes only if its name was typed in.
 * @param yes the button that does it
 */
export function createTypedName(yes) {
  const box = byId('plan-typed');
  const field = byId('plan-name');
  let wanted = '';
  let isAllowed = false;
  const isRight = () => wanted === '' || field.value.trim() === wanted;
  field.addEventListener('input', () => setDisabled(yes, !isAllowed || !isRight()));
  return {
    start: (name = '') => {
      wanted = name;
      isAllowed = false;
      box.hidden = true;
      field.value = '';
    },
    /** Once the button is what the plan has made of it. */
    check: () => {
      isAllowed = yes.dataset.wanted === 'enabled';
      box.hidden = wanted === '' || !isAllowed;
      if (!isRight()) setDisabled(yes, true);
    },
  };
}
