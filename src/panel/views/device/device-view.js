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
    fleet,
    createRecords(context),
  ];
  const load = () => Promise.all(cards.map((card) => card.load()));
  return {
    show: (argument) => {
      void load();
      if (argument) document.getElementById(argument)?.scrollIntoView();
    },
    hide: fleet.hide,
    load,
    render: () => undefined,
  };
}
