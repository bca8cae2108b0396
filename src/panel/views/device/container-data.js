import { button, byId, setText } from '../../dom.js';
import { daemonText, t } from '../../i18n.js';

/** Moves the container data: what may be done with a folder depends on what a check finds there. */
export function createContainerData({ api, on }) {
  const box = byId('containers');
  const form = byId('move');
  const path = byId('move-path');
  const state = byId('move-state');
  const buttons = byId('move-buttons');

  const say = (text, isBad = false) => {
    setText(state, text);
    state.classList.toggle('problem', isBad);
    path.setAttribute('aria-invalid', String(isBad));
  };
  const offer = (...actions) =>
    buttons.replaceChildren(
      ...actions.map(({ overwrite, ...rest }) =>
        button({ ...rest, onclick: () => void start(overwrite), isWrite: true }),
      ),
    );
  const start = async (overwrite) => {
    offer();
    say('');
    await on.move({ path: path.value.trim(), ...(overwrite !== undefined && { overwrite }) });
  };
  const isInField = (folder) => path.value.trim() === folder;
  const check = async (folder) => {
    if (!folder.startsWith('/')) {
      return say(
        t('The folder begins with a slash, such as {example}.', { example: '/mnt/data/docker' }),
        true,
      );
    }
    say(t('Looking …'));
    // The daemon may have to walk over all of the data.
    const address = 'admin/store/docker_check_migrate';
    const { result, error } = await api.get(address, { path: folder }, { limitMs: 0 });
    // What is in the field by now has not been looked at.
    if (!isInField(folder)) return undefined;
    if (result === 'bad') return say(daemonText(error), true);
    if (result === 'good') {
      offer({ text: t('Move the data'), className: 'primary' });
      return say(
        t(
          'The data can go there. Containers go on while it is copied, and stop only at the end, ' +
            'for as long as it takes to copy what has changed meanwhile.',
        ),
      );
    }
    offer(
      { text: t('Use what is there'), overwrite: 'chdir' },
      { text: t('Replace what is there'), overwrite: 'true', className: 'danger' },
    );
    return say(
      t(
        'There is something in this folder. Use it as it is, without copying anything, or ' +
          'replace it with the data that is in use now.',
      ),
    );
  };

  path.addEventListener('input', () => {
    offer();
    say('');
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    offer();
    const folder = path.value.trim();
    check(folder).catch((error) => isInField(folder) && say(error.message, true));
  });
  return {
    /** A device without an engine, or a daemon that knows nothing of one, shows nothing. */
    load: async () => {
      const answer = await api.get('admin/store/docker_check_dir').catch(() => undefined);
      box.hidden = answer?.has_engine !== true;
      setText(
        byId('move-location'),
        answer?.docker_on_system
          ? t('It is on the system disk, which is small and wears out. It can move to another one.')
          : t('It is not on the system disk. It can move to another folder.'),
      );
    },
  };
}
