import { button, byId, createRows, element, setText, textElement } from '../../dom.js';
import { t } from '../../i18n.js';
import { createLoader } from '../../loader.js';
import { ago } from '../../words.js';

/** The files that were uploaded and installed. */
export function createRecords({ api, report, on }) {
  const showRows = createRows(byId('records-list'), {
    keyOf: ({ id }) => id,
    create: (record) => createRow(record, on),
    fallback: byId('records-title'),
  });
  return createLoader({
    state: byId('records-state'),
    load: async (signal) => {
      const { records } = await api.get('admin/store/run_records', {}, { signal });
      showRows([...records].sort((one, other) => other.ts - one.ts));
      byId('records-empty').hidden = records.length > 0;
    },
    onGone: report,
  });
}

function createRow(record, on) {
  const { file } = record;
  const when = textElement('p', '', 'note');
  const undo = button({
    text: t('Remove'),
    label: t('Remove what {file} brought', { file }),
    className: 'danger-text',
    onclick: () => on.undo(record),
    isWrite: true,
  });
  return {
    element: element('li', {}, [
      element('div', { className: 'grow' }, [textElement('p', file), when]),
      undo,
    ]),
    update: ({ ts }) => setText(when, ago(ts)),
  };
}
