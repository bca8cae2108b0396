'use strict';
'require baseclass';
'require depotd.upgrades as upgrades';

/* On each page of LuCI its menu says beside depotd's entry how many packages have a newer version. */

const links = () => document.querySelectorAll(`a[href="${L.url('admin/system/depotd')}"]`);

async function mark() {
  const number = await upgrades.count();
  if (!number) return;
  const title = _('Packages that can be upgraded: %d').format(number);
  for (const link of links()) link.append(E('span', { title }, ` (${number})`));
}

return baseclass.extend({
  /* The theme makes the menu later; who may not use depotd has no such entry. */
  __init__() {
    const observer = new MutationObserver(() => {
      if (links().length === 0) return;
      observer.disconnect();
      void mark();
    });
    observer.observe(document.documentElement, { childList: true, subtree: true });
  },
});
