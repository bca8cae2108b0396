import { byId, setText } from '../../dom.js';
import { t } from '../../i18n.js';
import { isReadOnly, setDisabled } from '../../permission.js';
import { percent } from '../../words.js';

/** Endings of package files, by the device's package manager; both until that is known. */
const ENDINGS = { opkg: ['.ipk'], apk: ['.apk'] };
const ANY = ['.ipk', '.apk'];
const PROGRAM = '.run';

/**
 * Sends a file that somebody chose, or dropped anywhere on the page.
 * @param onSend gets the file and a function for its progress; returns `{ answer, cancel }`, whose
 *   answer is an error's text, empty if it was taken, or undefined if it was cancelled
 * @param onDrop called when a file was dropped, so that the form comes into sight
 * @returns `{ showEndings }`, which gets what the device says of itself
 */
export function createUploadForm({ onSend, onDrop }) {
  const input = byId('upload-file');
  const problem = byId('upload-problem');
  const sending = createSending();
  let endings = ANY;

  const showEndings = ({ package_manager: manager } = {}) => {
    endings = ENDINGS[manager] ?? ANY;
    input.accept = [...endings, PROGRAM].join();
    const text = t(
      'A package ({endings}) or a .run file, which is a program: it may do anything on the ' +
        'device. A file can be dropped anywhere on this page.',
      { endings: endings.join(', ') },
    );
    setText(byId('upload-note'), text);
  };
  const complain = (text) => {
    setText(problem, text);
    input.setAttribute('aria-invalid', String(text !== ''));
  };
  const check = (file) => {
    const name = file?.name.toLowerCase();
    const isFine = [...endings, PROGRAM].some((ending) => name?.endsWith(ending) ?? true);
    const values = { endings: endings.join(', ') };
    complain(isFine ? '' : t('The name of the file must end in {endings} or .run.', values));
    return isFine && file !== undefined;
  };
  const send = async (file) => {
    complain('');
    setDisabled(input, true);
    const text = await sending.run(file, onSend);
    setDisabled(input, false);
    complain(text ?? '');
    // The same file can be chosen again.
    input.value = '';
  };

  input.addEventListener('change', () => {
    const [file] = input.files;
    if (check(file)) void send(file);
  });
  listenForDrops((file) => {
    if (sending.isUnderWay()) return;
    onDrop();
    if (check(file)) void send(file);
  });
  showEndings();
  return { showEndings };
}

function createSending() {
  const box = byId('upload-doing');
  const bar = box.querySelector('progress');
  let cancel;
  const show = (name, part) => {
    bar.value = part;
    // When all is sent the device looks into the file.
    setText(
      byId('upload-progress'),
      part < 1
        ? t('Sending {name}: {percent}', { name, percent: percent(Math.floor(part * 100)) })
        : t('The device checks {name} …', { name }),
    );
  };
  byId('upload-cancel').addEventListener('click', () => cancel());
  return {
    isUnderWay: () => !box.hidden,
    run: async (file, onSend) => {
      show(file.name, 0);
      box.hidden = false;
      const { answer, cancel: stop } = onSend(file, (part) => show(file.name, part));
      cancel = stop;
      const text = await answer;
      box.hidden = true;
      return text;
    },
  };
}

/** The whole page: who misses a small field would leave the page for the file. */
function listenForDrops(onFile) {
  const hint = byId('drop');
  const hasFiles = ({ dataTransfer }) => dataTransfer?.types.some((type) => /^Files$/.test(type));
  let depth = 0;
  const setDepth = (value) => {
    depth = value;
    hint.hidden = depth <= 0 || isReadOnly();
  };
  const on = (name, listener) =>
    document.addEventListener(name, (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      listener(event);
    });
  on('dragenter', () => setDepth(depth + 1));
  on('dragleave', () => setDepth(depth - 1));
  on('dragover', () => undefined);
  on('drop', ({ dataTransfer }) => {
    setDepth(0);
    const [file] = dataTransfer.files;
    if (file !== undefined && !isReadOnly()) onFile(file);
  });
}
