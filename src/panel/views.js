import { byId, setText } from './dom.js';
import { t } from './i18n.js';
import { createActivityView } from './views/activity/activity-view.js';
import { createIcons } from './views/catalog/app-icon.js';
import { createDetailsView } from './views/details-view.js';
import { createDeviceView } from './views/device/device-view.js';
import { createSelfUpgrade } from './views/device/self-upgrade.js';
import { createUploadForm } from './views/device/upload-form.js';
import { createDiscoverView } from './views/discover-view.js';
import { createInstalledView } from './views/installed-view.js';
import { createUpdatesView } from './views/updates-view.js';

/**
 * The views by the name that the address has for them. Only the one in sight is kept up to date,
 * and the number of updates.
 */
export function createViews({ api, tasks, apps, on, report }) {
  const icons = createIcons({ api });
  const context = { api, tasks, icons, on, report, apps };
  let current = () => undefined;
  const upload = createUploadForm({
    onSend: on.upload,
    onDrop: () => (location.hash = '#device/uploads'),
  });
  const activity = createActivityView(context);
  const updates = createUpdatesView(context, { onCount: showUpdates });
  const byName = {
    discover: createDiscoverView(context),
    installed: createInstalledView(context),
    updates,
    activity,
    device: createDeviceView({ ...context, onDevice: upload.showEndings }),
    app: createDetailsView(context),
  };
  const self = createSelfUpgrade({ api, report, onUpgrade: on.upgradeSelf });

  const loadOthers = async () => {
    await Promise.all([activity, updates].map((view) => view.load()));
    await self.showVersion().catch(report);
  };
  return {
    byName,
    activity,
    /** @param name says which view is in sight */
    onRoute: (name) => (current = name),
    renderCurrent: () => byName[current()]?.render(),
    /** What stands at the views' names. */
    loadOthers,
    /** First what somebody looks at. */
    reload: async () => {
      await byName[current()]?.load();
      await loadOthers();
    },
    showRunning: () => {
      showBadge('activity', tasks.countAtWork());
      showUpdating(tasks.isUpdating());
    },
  };
}

function showUpdates(number) {
  showBadge('updates', number);
}

/** The lists are fetched where somebody asks for it, and the button says so. */
function showUpdating(isUpdating) {
  for (const id of ['update', 'updates-refresh']) {
    const text = isUpdating ? t('Updating the lists …') : t('Update lists');
    setText(byId(id).querySelector('span'), text);
  }
}

/** A number beside a view's name; nothing for none. */
function showBadge(view, number) {
  const badge = byId(`${view}-badge`);
  badge.hidden = number === 0;
  setText(badge.querySelector('[aria-hidden]'), number > 99 ? '99+' : String(number));
  setText(
    badge.querySelector('.unseen'),
    view === 'updates'
      ? t('{count} available', { count: number })
      : t('{count} running', { count: number }),
  );
}
