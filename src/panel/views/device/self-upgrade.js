import { byId, setText } from '../../dom.js';
import { daemonText, t } from '../../i18n.js';
import { setDisabled } from '../../permission.js';
import { confirm } from '../dialogs/confirm.js';

const NEWER = 200;
const NONE_NEWER = 304;

/** depotd's own version, and a newer one. */
export function createSelfUpgrade({ api, report, onUpgrade }) {
  const state = byId('self-state');
  const check = byId('self-check');
  const upgrade = byId('self-upgrade');
  let version = '';

  const offer = (found) => {
    version = found;
    upgrade.hidden = found === '';
  };
  check.addEventListener('click', async () => {
    setDisabled(check, true);
    offer('');
    setText(state, t('Looking …'));
    try {
      const { code, msg } = await api.get('admin/store/check_self_upgrade');
      const words = {
        [NEWER]: () => t('Version {version} is there.', { version: msg }),
        [NONE_NEWER]: () => t('The lists have no newer version. “Update lists” fetches them.'),
      };
      setText(state, (words[code] ?? (() => daemonText(msg)))());
      offer(code === NEWER ? msg : '');
    } catch (error) {
      setText(state, error.status > 0 ? error.message : '');
      if (!(error.status > 0) || error.needsLogin) report(error);
    }
    setDisabled(check, false);
  });
  upgrade.addEventListener('click', async () => {
    const text = t(
      'The app service starts again in between; this page waits and goes on by itself. If ' +
        'the new version does not answer, the old one is put back.',
    );
    if (
      !(await confirm({
        title: t('Upgrade depotd to {version}?', { version }),
        text,
        yes: t('Upgrade'),
        no: t('Not now'),
      }))
    ) {
      return;
    }
    offer('');
    setText(state, '');
    await onUpgrade();
  });
  return {
    showVersion: async () => {
      const { version: current, arch } = await api.get('admin/store/uid');
      setText(byId('self-version'), [`depotd ${current}`, arch].filter(Boolean).join(' · '));
    },
  };
}
