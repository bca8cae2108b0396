import { byId } from '../../dom.js';

/** Options of an app's set-up right after its installation. */
export function createSetUp() {
  const box = byId('set-up');
  const isWanted = byId('set-up-wanted');
  const fields = byId('set-up-fields');
  const path = byId('set-up-path');
  const isStarted = byId('set-up-start');
  isWanted.addEventListener('change', () => (fields.disabled = !isWanted.checked));

  return {
    show: (app) => {
      // An application of LuCI has no script that sets it up.
      box.hidden = app?.kind !== 'app' || app.name.startsWith('luci-app-');
      box.open = false;
      isWanted.checked = false;
      fields.disabled = true;
      path.value = '';
      isStarted.checked = true;
    },
    /** Parameters of the operation `install`; none if nobody wants a set-up. */
    parameters: () => {
      if (box.hidden || !isWanted.checked) return {};
      const folder = path.value.trim();
      return {
        autoconf: '1',
        enable: isStarted.checked ? '1' : '0',
        ...(folder !== '' && { path: folder }),
      };
    },
  };
}
