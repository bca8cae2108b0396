/** The one place that reads the process's environment. */

/** Put in by the build; another value means that the sources run as they are. */
export const VERSION = process.env.DEPOTD_VERSION ?? '0.0.0-development';

/** How many seconds a new version has for /healthz before the old one is put back; for tests. */
export const SELF_UPGRADE_LIMIT_S = Number(process.env.DEPOTD_SELF_UPGRADE_LIMIT_S ?? 60);

/** How long the watcher of an upgrade waits before it asks again, in seconds; for tests. */
export const SELF_UPGRADE_PAUSE_S = Number(process.env.DEPOTD_SELF_UPGRADE_PAUSE_S ?? 1);

/** What a minute of `main.idle_exit_min` lasts; another length is for tests. */
export const IDLE_MINUTE_MS = Number(process.env.DEPOTD_IDLE_MINUTE_MS ?? 60_000);

/** Where a daemon that has ended of idleness leaves its mark; another place is for tests. */
export const MARKS_FOLDER = process.env.DEPOTD_MARKS ?? '/var/run/depotd';

/** Whether OpenWrt's service manager has started it: the init script says so. */
export const IS_OF_PROCD = process.env.DEPOTD_SERVICE === 'procd';

/** Where ubusd listens; another place is for tests. */
export const UBUS_SOCKET = process.env.DEPOTD_UBUS_SOCKET ?? '/var/run/ubus/ubus.sock';

/** What programs get of the daemon's environment: where they are, how the network is reached. */
const HANDED_ON = [
  ...['PATH', 'TMPDIR', 'SSL_CERT_FILE', 'SSL_CERT_DIR'],
  ...['http_proxy', 'https_proxy', 'ftp_proxy', 'no_proxy'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'],
];
const SYSTEM_PATH = '/usr/sbin:/usr/bin:/sbin:/bin';

/** A clean environment for host programs, with a terminal of 80 by 24 and English messages. */
export function commandEnvironment(): Record<string, string> {
  const handedOn = HANDED_ON.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    PATH: SYSTEM_PATH,
    HOME: '/root',
    LANG: 'C',
    TERM: 'xterm',
    COLUMNS: '80',
    LINES: '24',
    ...Object.fromEntries(handedOn),
  };
}

/** What a service manager says of where stderr goes. */
export function syslogHints() {
  const { JOURNAL_STREAM: journalStream, DEPOTD_LOG_PREFIX: prefix } = process.env;
  return {
    /** `DEVICE:INODE` of the stream to systemd's journal (systemd.exec(5)). */
    journalStream,
    /** Said by an init script whose logger knows prefixes. */
    hasPrefixReader: prefix === '1',
  };
}

/** What depotctl takes from its caller's environment. */
export function clientEnvironment() {
  const { DEPOTCTL_SESSION: session, XDG_RUNTIME_DIR: runtimeDir, NO_COLOR, TERM } = process.env;
  // The first locale of these counts (locale(7)).
  const { LC_ALL, LC_MESSAGES, LANG } = process.env;
  return {
    /** A session of the device's panel. */
    session: session === '' ? undefined : session,
    /** Folder of this user alone, goes with the last log-in (XDG Base Directory Specification). */
    runtimeDir: runtimeDir?.startsWith('/') === true ? runtimeDir : undefined,
    /** Locale of its messages, such as `zh_CN.UTF-8`; empty if it has none. */
    locale: [LC_ALL, LC_MESSAGES, LANG].find(Boolean) ?? '',
    /** Whether colours are wanted on a terminal (no-color.org). */
    isColoured: (NO_COLOR ?? '') === '' && TERM !== 'dumb',
  };
}
