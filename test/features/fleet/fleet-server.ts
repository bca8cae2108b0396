import type { Rollout } from './groups.ts';

/** What a test does at a fleet server as its operator: the stand-in or a real one. */
export interface FleetServer {
  /** Without a slash at its end. */
  readonly url: string;
  readonly tenant: string;
  /** @returns the token of the target alone */
  readonly addTarget: (id: string) => Promise<string>;
  /** @returns the id of a distribution set of these modules */
  readonly publish: (modules: readonly PublishedModule[]) => Promise<string>;
  /** @returns the id of the action */
  readonly assign: (set: string, target: string, how?: Assignment) => Promise<string>;
  /** Begins a rollout in three groups, which pauses if more than a fifth of a group fails. */
  readonly rollOut: (
    set: string,
    how: { name: string; targets: readonly string[] },
  ) => Promise<Rollout>;
  /** Makes a soft action a forced one. */
  readonly force: (target: string, action: string) => Promise<void>;
  readonly cancel: (target: string, action: string) => Promise<void>;
  readonly action: (target: string, action: string) => Promise<ActionState>;
  /** What the target has sent of itself. */
  readonly attributes: (target: string) => Promise<Record<string, string>>;
  readonly close: () => Promise<void>;
}

export interface PublishedModule {
  files?: Readonly<Record<string, Buffer>>;
  metadata?: Readonly<Record<string, string>>;
}

export interface Assignment {
  type?: 'forced' | 'soft' | 'timeforced' | 'downloadonly';
  /** When a timeforced one is forced, in Unix milliseconds. */
  forcedAt?: number;
  /** A maintenance window that is open now, or one that is not. */
  window?: 'open' | 'closed';
  isConfirmed?: boolean;
}

export interface ActionState {
  status: string;
  isActive: boolean;
  /** Details of all feedback, oldest first. */
  messages: string[];
}
