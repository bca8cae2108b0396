import { byId } from '../../dom.js';
import { createBackups } from './backups.js';
import { createContainerData } from './container-data.js';
import { createDisks } from './disks.js';
import { createDoctor } from './doctor.js';
import { createFeeds } from './feeds.js';
import { createOverview } from './overview.js';
import { createFleet } from './fleet.js';
import { createRecords } from './records.js';

/** The device itself: what it is, its space and health, where packages come from, and uploads. */
export function createDeviceView(context) {
  const fleet = createFleet(context);
  const cards = [
    createOverview(context),
    createDisks(context),
    createContainerData(context),
    createDoctor(context),
    createFeeds(context),
    createBackups(context),
    fleet,
    createRecords(context),
  ];
  const load = () => Promise.all(cards.map((card) => card.load()));
  let wanted = '';
  /** Cards that are filled push those below them on, until somebody moves the page. */
  const reveal = () => {
    if (wanted !== '') byId(wanted)?.scrollIntoView();
  };
  for (const name of ['wheel', 'touchmove', 'keydown', 'pointerdown']) {
    document.addEventListener(name, () => (wanted = ''), { passive: true });
  }
  return {
    show: (argument) => {
      wanted = argument;
      for (const card of cards) void card.load().then(reveal);
      reveal();
    },
    hide: () => {
      wanted = '';
      fleet.hide();
    },
    load,
    render: () => undefined,
  };
}
