import { byId, setText } from '../../dom.js';
import { t } from '../../i18n.js';
import { setDisabled } from '../../permission.js';

/** Buttons that lead to the pages before and after; hidden while there is one page. */
export function createPaging(prefix, { onPage }) {
  const box = byId(`${prefix}-pages`);
  const [before, after] = box.querySelectorAll('button');
  const text = box.querySelector('p');
  let page = 1;
  before.addEventListener('click', () => onPage(page - 1));
  after.addEventListener('click', () => onPage(page + 1));
  return {
    /** @param answer with `page`, `per_page` and `total` */
    show: (answer) => {
      const pages = Math.ceil(answer.total / answer.per_page);
      page = answer.page;
      box.hidden = pages < 2;
      setText(text, t('Page {page} of {pages}', { page, pages }));
      setDisabled(before, page <= 1);
      setDisabled(after, page >= pages);
    },
  };
}
