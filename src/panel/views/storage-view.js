import { byId, element, setText } from '../dom.js';
import { t } from '../i18n.js';

/** The disks and where the container data is, where somebody opens them. */
export function createStorageView({ api, report, onMove }) {
  const box = byId('storage');
  const list = byId('disks-list');
  const state = byId('disks-state');
  const move = createMoveForm({ api, onMove });

  const load = async () => {
    if (!box.open) return;
    void move.load();
    try {
      const { data } = await api.get('admin/store/get_block_devices');
      const disks = Object.values(data);
      list.replaceChildren(...disks.map(createRow));
      state.hidden = disks.length > 0;
      setText(state, t('No device has a file system.'));
    } catch (error) {
      report(error);
    }
  };
  box.addEventListener('toggle', load);
  return { load };
}

function createRow({ dev, label, type, size, mount }) {
  const facts = [type, label, mount === '' ? t('not mounted') : t('at {mount}', { mount })]
    .filter(Boolean)
    .join(' · ');
  return element('li', {}, [
    element('div', { className: 'grow' }, [
      element('p', {}, [dev]),
      element('p', { className: 'note' }, [facts]),
    ]),
    element('span', {}, [size]),
  ]);
}

/**
 * Moving the container data: a folder is checked first, and what may be done with it then depends
 * on what is there.
 */
function createMoveForm({ api, onMove }) {
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
      ...actions.map(({ text, overwrite, className = '' }) =>
        element('button', { type: 'button', className, onclick: () => void start(overwrite) }, [
          text,
        ]),
      ),
    );
  const start = async (overwrite) => {
    offer();
    say('');
    await onMove({ path: path.value.trim(), ...(overwrite !== undefined && { overwrite }) });
  };
  const check = async () => {
    if (!path.value.trim().startsWith('/')) {
      return say(
        t('The folder begins with a slash, such as {example}.', { example: '/mnt/data/docker' }),
        true,
      );
    }
    say(t('Looking …'));
    const { result, error } = await api.get('admin/store/docker_check_migrate', {
      path: path.value.trim(),
    });
    if (result === 'bad') return say(error, true);
    if (result === 'good') {
      offer({ text: t('Move the data'), className: 'primary' });
      return say(t('The data can go there. Containers stop for as long as it is copied.'));
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
    check().catch((error) => say(error.message, true));
  });
  return {
    /** A device without containers, or a daemon that knows nothing of them, shows nothing. */
    load: async () => {
      const answer = await api.get('admin/store/docker_check_dir').catch(() => undefined);
      form.hidden = answer?.code !== 200;
      setText(
        byId('move-place'),
        answer?.docker_on_system
          ? t('It is on the system disk, which is small and wears out. It can move to another one.')
          : t('It is not on the system disk. It can move to another folder.'),
      );
    },
  };
}
