/** The part that lists block devices: the whole would double the daemon's bundle. */
declare module 'systeminformation/lib/filesystem.js' {
  export { blockDevices } from 'systeminformation';
}
