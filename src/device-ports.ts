import type { Processes, Notes } from './device/ports.ts';
import type { PackageHost } from './features/packages/package-manager.ts';
import type { PanelBus, Password } from './features/login/ports.ts';
import type { ContainerHost } from './features/container-data/device.ts';
import type { AppFiles } from './features/app-status/scripts-port.ts';
import type { BlockDeviceHost } from './features/disks/port.ts';
import type { SelfUpgradeHost } from './features/self-upgrade/port.ts';
import type { UploadFolder } from './features/uploads/port.ts';

/**
 * What the daemon may ask of the device it runs on: types only. The rooms above import these and
 * never a tool's flags; `create-device.ts` builds the real thing.
 */
export interface Host {
  /**
   * Waits until no other daemon works with the state folder. @throws DepotError unavailable where
   * one goes on
   */
  claimState: () => Promise<void>;
  processes: Processes;
  packages: PackageHost;
  notes: Notes;
  apps: AppFiles;
  blockDevices: BlockDeviceHost;
  uploads: UploadFolder;
  selfUpgrade: SelfUpgradeHost;
  container: ContainerHost;
  panel: PanelBus;
  password: Password;
}
