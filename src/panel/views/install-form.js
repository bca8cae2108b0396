import { byId } from '../dom.js';
import { t } from '../i18n.js';

const PACKAGE_NAME = /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,127}$/;

/** @param onInstall gets the parameters of the operation; resolves to whether it was accepted */
export function createInstallForm({ onInstall }) {
  const form = byId('install');
  const name = byId('install-name');
  const problem = byId('install-problem');
  const autoconf = byId('install-autoconf');
  const setUp = byId('install-setup');
  const path = byId('install-path');
  const button = form.querySelector('[type=submit]');

  const complain = (field, text) => {
    problem.textContent = text;
    for (const each of [name, path]) {
      each.setAttribute('aria-invalid', String(each === field && text !== ''));
    }
    if (text !== '') field.focus();
    return text === '';
  };
  const isFine = () => {
    if (name.value.trim() === '') return complain(name, t('Type the name of an app first.'));
    if (!PACKAGE_NAME.test(name.value.trim())) {
      return complain(
        name,
        t('A name is letters, digits and . + _ - and begins with a letter or digit.'),
      );
    }
    if (autoconf.checked && path.value.trim() !== '' && !path.value.trim().startsWith('/')) {
      return complain(
        path,
        t('The folder begins with a slash, such as {example}.', { example: '/mnt/data' }),
      );
    }
    return complain(name, '');
  };

  autoconf.addEventListener('change', () => (setUp.disabled = !autoconf.checked));
  name.addEventListener('input', () => complain(name, ''));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (!isFine()) return;
    button.disabled = true;
    const isAccepted = await onInstall(parametersOf());
    button.disabled = false;
    if (isAccepted) form.reset();
    setUp.disabled = !autoconf.checked;
  });

  const parametersOf = () => ({
    package: name.value.trim(),
    ...(autoconf.checked && { autoconf: '1', enable: byId('install-enable').checked ? '1' : '0' }),
    ...(autoconf.checked && path.value.trim() !== '' && { path: path.value.trim() }),
  });
}
