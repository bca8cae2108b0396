import { element, textElement } from '../../dom.js';

/** Fuller than this is said in another colour. */
const TIGHT = 0.9;

/**
 * How full something is, as a bar with its figures.
 * @param canFill false for what is full by its nature
 */
export function fillBar({ title, total, free, text, isTitleShown = true, canFill = true }) {
  const part = total > 0 ? Math.min(1, Math.max(0, (total - free) / total)) : 0;
  const fill = element('div');
  fill.style.width = `${part * 100}%`;
  return element(
    'div',
    { className: 'fill', dataset: { tight: String(canFill && part > TIGHT) } },
    [
      element('div', { className: 'fill-text' }, [
        ...(isTitleShown ? [textElement('span', title)] : []),
        textElement('span', text, 'soft'),
      ]),
      element(
        'div',
        {
          className: 'bar',
          role: 'meter',
          'aria-valuemin': '0',
          'aria-valuemax': '100',
          'aria-valuenow': String(Math.round(part * 100)),
          'aria-valuetext': text,
          'aria-label': title,
        },
        [fill],
      ),
    ],
  );
}
