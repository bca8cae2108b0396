/** The log-in sessions of the device's admin panel. */
export interface PanelBus {
  /**
   * Renews the session's idle time. `isKnown` says that it was valid a moment ago: then it does not
   * stand behind those who may be anybody.
   * @returns undefined where the panel knows no such session, or nobody has logged in to it
   * @throws DepotError unavailable where the panel cannot be asked
   */
  findLogin: (session: { id: string; isKnown: boolean }) => Promise<PanelLogin | undefined>;
}

export interface PanelLogin {
  username: string;
  /** The panel's own request-forgery token. */
  token: string;
}

/**
 * The password of the daemon's own log-in. @throws DepotError unavailable where its record cannot
 * be read
 */
export interface Password {
  isSet: () => Promise<boolean>;
  /** false where none is set. Takes a good part of a second. */
  matches: (text: string) => Promise<boolean>;
  set: (text: string) => Promise<void>;
}
