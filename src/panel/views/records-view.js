import { byId, element, setText } from '../dom.js';
import { t } from '../i18n.js';
import { ago } from '../words.js';

/** The files that were uploaded and installed, where somebody opens them. */
export function createRecordsView({ api, report, onUndo }) {
  const box = byId('records');
  const list = byId('records-list');
  const state = byId('records-state');

  const load = async () => {
    if (!box.open) return;
    try {
      const { records } = await api.get('admin/store/run_records');
      list.replaceChildren(
        ...[...records]
          .sort((one, other) => other.ts - one.ts)
          .map((record) => createRow(record, onUndo)),
      );
      state.hidden = records.length > 0;
      setText(state, t('None. What uploaded files bring is noted here, and can be removed again.'));
    } catch (error) {
      report(error);
    }
  };
  box.addEventListener('toggle', load);
  return { load };
}

function createRow(record, onUndo) {
  const { file, ts } = record;
  const undo = element(
    'button',
    {
      type: 'button',
      className: 'danger-text',
      'aria-label': t('Remove what {file} brought', { file }),
      onclick: () => onUndo(record),
    },
    [t('Remove')],
  );
  return element('li', {}, [
    element('div', { className: 'grow' }, [
      element('p', {}, [file]),
      element('p', { className: 'note' }, [ago(ts)]),
    ]),
    undo,
  ]);
}
