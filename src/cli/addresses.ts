/** Where a daemon is looked for if nobody says. */
export const DEFAULT_URL = 'http://127.0.0.1:8728';
/** Where the packages have the daemon listen, too. */
export const ROOT_SOCKET = '/var/run/depotd.sock';
export const DEFAULT_BASE = '/cgi-bin/panel';
