/** A question about the device that GET `admin/system/doctor` asks; features bring their own. */
export interface DeviceCheck {
  /** Stands in the answer: lower case, with hyphens. */
  id: string;
  /** Cheap, without a request to another host. What it throws, and silence, become a finding. */
  run: () => Promise<Finding>;
}

/** `skipped`: there is nothing to look at on this device. */
export interface Finding {
  state: 'ok' | 'warning' | 'error' | 'skipped';
  /** A sentence, lower case. */
  message: string;
  /** What its owner can do. */
  remedy?: string;
}
