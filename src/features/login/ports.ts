/** A log-in session of rpcd, which logs people in to the device's admin panel. */
export interface RpcdSession {
  id: string;
  username: string;
  /** LuCI's request-forgery token; none in a session that LuCI did not begin. */
  token: string | undefined;
  /** By rpcd's access group `depotd`; `root` always may. */
  mayRead: boolean;
  mayWrite: boolean;
}

/** Who is logged in to the device. @throws DepotError unavailable if rpcd cannot be asked */
export interface Rpcd {
  /**
   * Renews the session's idle time. `isKnown` says that it was valid a moment ago: then it does not
   * stand behind those who may be anybody. `client`: as in `Asker`.
   * @returns undefined if rpcd knows no such session, or nobody has logged in to it
   */
  find: (session: {
    id: string;
    isKnown: boolean;
    client?: string;
  }) => Promise<RpcdSession | undefined>;
  /**
   * All sessions that somebody has logged in to, by id; leaves their idle time as it is. May lack
   * some, and rights that a pattern grants.
   */
  list: () => Promise<Map<string, RpcdSession>>;
  /**
   * `timeoutS`: how long the session may be idle. `isTrusted`, `client`: as in `Asker`.
   * @returns undefined if rpcd refuses; `isShared`: the session was there before, and is in use
   */
  logIn: (login: {
    username: string;
    password: string;
    timeoutS: number;
    isTrusted: boolean;
    client: string;
  }) => Promise<{ session: RpcdSession; isShared: boolean } | undefined>;
  /** Ends it; one that has ended already is fine. */
  destroy: (id: string) => Promise<void>;
}

/** Where somebody stands in line. */
export interface Asker {
  /** Does not stand behind strangers. */
  isTrusted: boolean;
  /** Each client has its turn, however often another one asks. */
  client: string;
}

/**
 * The password of the daemon's own log-in. @throws DepotError unavailable if its record cannot be
 * read
 */
export interface Password {
  isSet: () => Promise<boolean>;
  /** false if none is set. Takes a good part of a second. */
  matches: (text: string, asker: Asker) => Promise<boolean>;
  set: (text: string) => Promise<void>;
  /** @throws DepotError forbidden if one is set already */
  setFirst: (text: string) => Promise<void>;
}
