import { t } from './i18n.js';

/**
 * Who may only read sees what there is to do, and that it is not theirs. Elements with `data-write`
 * change something on the device; `setDisabled` is the only way to enable them.
 */
export function setMayWrite(mayWrite) {
  const { dataset } = document.documentElement;
  if (mayWrite === !isReadOnly()) return;
  dataset.access = mayWrite ? 'write' : 'read';
  document.getElementById('read-only').hidden = mayWrite;
  for (const target of document.querySelectorAll('[data-write]')) applyPermission(target);
}

export function isReadOnly() {
  return document.documentElement.dataset.access === 'read';
}

export function setDisabled(target, isDisabled) {
  target.dataset.wanted = isDisabled ? 'disabled' : 'enabled';
  applyPermission(target);
}

/** For elements that were made just now, and for all when the permission is known. */
export function applyPermission(target) {
  const isForbidden = 'write' in target.dataset && isReadOnly();
  target.disabled = isForbidden || target.dataset.wanted === 'disabled';
  if (isForbidden) {
    target.title = t('Your account may look at this device, but not change it.');
    target.setAttribute('aria-describedby', 'read-only');
  } else if (target.getAttribute('aria-describedby') === 'read-only') {
    target.removeAttribute('title');
    target.removeAttribute('aria-describedby');
  }
}
