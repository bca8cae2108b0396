import { startDaemon, type TestDaemon } from '../../device/daemon.ts';
import { createDevice, type Device } from '../../device/device.ts';
import { createFeed, type Feed } from '../../device/feed.ts';

/** The owner's own feeds on a device with opkg, relative to the root. */
export const CUSTOM = 'etc/opkg/customfeeds.conf';

/** What a feed that the device does not know yet offers. */
export const PACKAGES = [{ name: 'extra-tool', version: '1.0-1', architecture: 'all' }];

/** A daemon on a device with opkg, and a feed that the device does not know yet. */
export interface FeedDaemon {
  readonly device: Device;
  readonly daemon: TestDaemon;
  readonly feed: Feed;
  readonly close: () => Promise<void>;
}

export async function startFeedDaemon(): Promise<FeedDaemon> {
  const device = await createDevice();
  const daemon = await startDaemon(device);
  const feed = await createFeed(PACKAGES);
  return {
    device,
    daemon,
    feed,
    close: async () => {
      await daemon.close();
      await device.close();
      await feed.close();
    },
  };
}
