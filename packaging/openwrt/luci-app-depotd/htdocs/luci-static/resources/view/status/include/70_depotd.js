'use strict';
'require baseclass';
'require depotd.upgrades as upgrades';

/* On LuCI's status page: how many packages have a newer version, if any has. */

const TITLE = _('Newer versions');

return baseclass.extend({
  title: TITLE,

  load() {
    return upgrades.count();
  },

  render(number) {
    if (!number) {
      this.title = '';
      return null;
    }
    this.title = TITLE;
    return E('p', {}, [
      E(
        'a',
        { href: L.url('admin/system/depotd/apps') },
        _('Packages that can be upgraded: %d').format(number),
      ),
    ]);
  },
});
