/** What a package manager has on record of one file of a package. */
export interface FileRecord {
  owner: string;
  /** Absolute on the device, whatever its root. */
  path: string;
  /** Its owner may change it. */
  isConfig: boolean;
  /** Of its content, of a link of what it names. Cut hashes have fewer digits. */
  hash?: { algorithm: 'md5' | 'sha1' | 'sha256'; digits: string };
  mode?: number;
  uid?: number;
  /**
   * Where there is no hash: the time that the builder gives all files of the package (0: unknown),
   * and that of the installation. Unix seconds.
   */
  times?: { built: number; installed: number };
}
