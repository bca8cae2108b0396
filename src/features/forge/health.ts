import type { Failure } from './failure.ts';

/** Health of the forge by the requests that went there; none is sent for it. Unix seconds. */
export interface ForgeHealth {
  configured: boolean;
  /** Missing until the first request. */
  reachable?: boolean;
  reachedAt?: number;
  lastError?: string;
  failedAt?: number;
}

export type HealthRecord = ReturnType<typeof createHealth>;

export function createHealth() {
  const health: ForgeHealth = { configured: true };
  const now = (): number => Math.floor(Date.now() / 1000);
  return {
    reached: (): void => {
      health.reachable = true;
      health.reachedAt = now();
    },
    failed: ({ code, message }: Failure): void => {
      if (code === 'upstream_unreachable' || code === 'upstream_timeout') {
        Object.assign(health, { reachable: false, lastError: message, failedAt: now() });
      }
    },
    report: (): ForgeHealth => ({ ...health }),
  };
}
