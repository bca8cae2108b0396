import { byId, setText } from '../dom.js';
import { t } from '../i18n.js';
import { percent } from '../words.js';

/**
 * @param onSend gets the file and what to tell of its progress; returns `{ answer, cancel }`, whose
 *   answer is an error's text, empty if it was accepted, or undefined if it was cancelled
 */
export function createUploadForm({ onSend }) {
  const form = byId('upload');
  const input = byId('upload-file');
  const button = form.querySelector('[type=submit]');
  const doing = byId('upload-doing');
  const bar = doing.querySelector('progress');
  const problem = byId('upload-problem');
  let cancel;

  const complain = (text) => {
    setText(problem, text);
    input.setAttribute('aria-invalid', String(text !== ''));
  };
  const showProgress = (name, part) => {
    bar.value = part;
    // When all is sent the device looks into the file.
    setText(
      byId('upload-progress'),
      part < 1
        ? t('Sending {name}: {percent}', { name, percent: percent(Math.floor(part * 100)) })
        : t('The device checks {name} …', { name }),
    );
  };
  const setSending = (isSending) => {
    doing.hidden = !isSending;
    input.disabled = isSending;
    button.disabled = isSending || input.files.length === 0;
  };

  input.addEventListener('change', () => {
    const [file] = input.files;
    complain(
      file === undefined || /\.(ipk|run)$/i.test(file.name)
        ? ''
        : t('The name of the file must end in .ipk or .run.'),
    );
    button.disabled = file === undefined || problem.textContent !== '';
  });
  byId('upload-cancel').addEventListener('click', () => cancel());
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const [file] = input.files;
    if (file === undefined) return;
    complain('');
    showProgress(file.name, 0);
    setSending(true);
    const sending = onSend(file, (part) => showProgress(file.name, part));
    cancel = sending.cancel;
    const text = await sending.answer;
    complain(text ?? '');
    if (text === '') form.reset();
    setSending(false);
  });
}
