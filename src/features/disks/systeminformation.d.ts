/**
 * The part of the library that lists block devices, by its own file: the whole would double the
 * daemon's bundle.
 */
declare module 'systeminformation/lib/filesystem.js' {
  export { blockDevices } from 'systeminformation';
}
