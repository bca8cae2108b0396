/** What one subject knows of its own state, for /healthz. */
export interface HealthReport {
  /** What keeps the daemon from its work, one sentence each. If there is one, /healthz fails. */
  problems?: readonly string[];
  /** Members that /healthz shows beside its own. */
  facts?: Readonly<Record<string, unknown>>;
}
