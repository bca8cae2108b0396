import { join } from 'node:path';

/** The device's disk in the virtual machine, and the device's root on it. */
export const DISK = '/mnt';
export const ROOT = join(DISK, 'root');
export const FEED_PORT = 7999;
