/** Where a daemon is looked for if nobody says. */
export const DEFAULT_URL = 'http://127.0.0.1:8728';
/** Where root needs no log-in: the default of main.owner_socket. */
export const OWNER_SOCKET = '/var/run/depotd/owner.sock';
/** Where the packages have the daemon listen, too, for the web server of the panel. */
export const SHARED_SOCKET = '/var/run/depotd.sock';
export const DEFAULT_BASE = '/cgi-bin/panel';
