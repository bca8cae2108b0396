import type { Failure } from './failure.ts';

/**
 * What is known of the forge from the requests that went to it; nothing is asked for this. Times in
 * Unix seconds.
 */
export interface ForgeHealth {
  configured: boolean;
  /** Missing until the first request. */
  reachable?: boolean;
  reachedAt?: number;
  lastError?: string;
  failedAt?: number;
}

export interface HealthRecord {
  reached: () => void;
  failed: (failure: Failure) => void;
  report: () => ForgeHealth;
}

export function createHealth(): HealthRecord {
  const health: ForgeHealth = { configured: true };
  const now = (): number => Math.floor(Date.now() / 1000);
  return {
    reached: () => {
      health.reachable = true;
      health.reachedAt = now();
    },
    failed: ({ code, message }) => {
      if (code === 'upstream_unreachable' || code === 'upstream_timeout') {
        Object.assign(health, { reachable: false, lastError: message, failedAt: now() });
      }
    },
    report: () => ({ ...health }),
  };
}
