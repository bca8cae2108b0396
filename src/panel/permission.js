import { t } from './i18n.js';

/**
 * Who may only read sees what there is to do, and that it is not theirs. Elements with `data-write`
 * change something on the device; `setDisabled` is the only way to enable them.
 */
export function setMayWrite(mayWrite) {
  setAccess(mayWrite ? 'write' : 'read');
}

/** Nobody is logged in any more: until somebody is, nothing that changes the device can be used. */
export function setLoggedOut() {
  setAccess('none');
}

function setAccess(access) {
  const { dataset } = document.documentElement;
  if (dataset.access === access) return;
  dataset.access = access;
  document.getElementById('read-only').hidden = access !== 'read';
  for (const target of document.querySelectorAll('[data-write]')) applyPermission(target);
}

/** Whether this page may change nothing. */
export function isReadOnly() {
  return ['read', 'none'].includes(document.documentElement.dataset.access);
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
    const isLoggedOut = document.documentElement.dataset.access === 'none';
    target.title = isLoggedOut
      ? t('You are not logged in any more.')
      : t('Your account may look at this device, but not change it.');
    target.setAttribute('aria-describedby', isLoggedOut ? 'notices' : 'read-only');
  } else if (['notices', 'read-only'].includes(target.getAttribute('aria-describedby'))) {
    target.removeAttribute('title');
    target.removeAttribute('aria-describedby');
  }
}
