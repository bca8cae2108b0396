import type { Act, StepContext } from '../jobs/plan.ts';

/** A container that goes with its app, as a plan shows it. */
export interface PlannedContainer {
  name: string;
  image: string;
  /** Size of its image; left out if the engine does not say it. */
  image_bytes?: number;
  /** The image names no version: what is fetched another time may be another one. */
  is_unpinned?: true;
  /** Data folders of the app, which stay unless they are asked to go. */
  keeps: string[];
}

/** Containers that apps brought, for what plans and makes the removal of their packages. */
export interface AppContainers {
  /** What would go with these packages; nothing if the engine does not answer. */
  planned: (packages: readonly string[]) => Promise<PlannedContainer[]>;
  /**
   * Puts on record what goes with these packages, before any of them does: their scripts, which
   * know the names of the containers, go with them.
   * @throws DepotError unavailable if the engine is there and does not answer
   */
  choose: (context: StepContext, work: ContainerRemoval) => Promise<void>;
  /** Once the packages have gone, removes what was put on record. */
  remove: Act;
}

export interface ContainerRemoval {
  /** The app or package, as it was asked for. */
  subject: string;
  packages: readonly string[];
  /** Whether images and data folders go, too. */
  isPurge: boolean;
}
