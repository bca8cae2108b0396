import { appearanceQuery } from './embedding.js';
import { daemonText, t } from './i18n.js';
import { setMayWrite } from './permission.js';
import { fetchInSession, sessionHeaders } from './session-key.js';

/** The daemon said no. `status` is that of HTTP; `needsLogin` tells that nobody is logged in. */
export class Refused extends Error {
  constructor(message, { status = 200, needsLogin = false } = {}) {
    super(message);
    this.status = status;
    this.needsLogin = needsLogin;
  }
}

/** Nobody answered, or somebody who is not the daemon. */
export class Unreachable extends Error {}

const FORBIDDEN = 403;
/** A device that has not answered by then will not any more. */
const ANSWER_MS = 45_000;
/**
 * A read this soon after a key or a click is a use of the session. What the page asks for by itself
 * is none, so that the session ends as if the page were closed.
 */
const USE_MS = 2000;
const LOG_PATH = 'admin/system/tasks/log';

/** Calls below the page's own folder, so that any prefix in front of it does. */
export function createApi() {
  let token;
  let panelUrl;
  let usedAt = Date.now();
  for (const name of ['keydown', 'pointerdown', 'wheel']) {
    document.addEventListener(name, () => (usedAt = Date.now()), { capture: true, passive: true });
  }

  const ask = (path, parameters, options = {}) => {
    const isUse = Date.now() - usedAt <= USE_MS;
    const query = new URLSearchParams({ ...parameters, ...(!isUse && { background: '1' }) });
    return send(query.size === 0 ? path : `${path}?${query}`, options);
  };
  const get = async (path, parameters = {}, { signal, limitMs = ANSWER_MS } = {}) => {
    const limit = limitMs > 0 ? AbortSignal.timeout(limitMs) : undefined;
    const signals = [signal, limit].filter(Boolean);
    return read(await ask(path, parameters, { signal: AbortSignal.any(signals) }));
  };
  /** Says, too, whether the session may change anything, and where the panel's pages are. */
  const readSession = async () => {
    const answer = await get('admin/store/token', { panel_url: '1' });
    token = answer.token;
    panelUrl = answer.panel_url ?? '';
    setMayWrite(answer.may_write !== false);
  };

  /** Where the browser gets a file by itself: good once, for seconds. */
  const addressFor = async (address) => {
    const { ticket } = await get('admin/ticket', { for: address });
    return `${address}&${new URLSearchParams({ ticket })}`;
  };

  const postOnce = async (path, parameters) => {
    if (token === undefined) await readSession();
    return read(await send(path, { method: 'POST', body: formOf({ ...parameters, token }) }));
  };

  return {
    get,
    readSession,
    /** Address of the panel's web server; empty if none is known, undefined until it is said. */
    panelUrl: () => panelUrl,
    post: async (path, parameters = {}) => {
      const isTokenOld = token !== undefined;
      try {
        return await postOnce(path, parameters);
      } catch (error) {
        // A daemon that was started again, or another log-in, has another token.
        if (!isTokenOld || error.status !== FORBIDDEN || error.needsLogin) throw error;
        token = undefined;
        return postOnce(path, parameters);
      }
    },
    upload,
    /** Bytes of a task's log; 0 if there is none. */
    logSize: async (id) => {
      const response = await ask(LOG_PATH, { task_id: id }, { method: 'HEAD' });
      return response.ok ? Number(response.headers.get('content-length') ?? 0) : 0;
    },
    /** Bytes of a task's log behind an offset; none if nothing is new. */
    logFrom: async (id, offset) => {
      const response = await ask(LOG_PATH, { task_id: id, offset });
      return new Uint8Array(response.status === 200 ? await response.arrayBuffer() : 0);
    },
    logAddress: (id) => addressFor(`${LOG_PATH}?task_id=${id}`),
    backupAddress: (id) => addressFor(`admin/store/backup_file?id=${id}`),
    /** An app's icon as a data URL; undefined if it has none. */
    icon: async (name) => {
      const response = await ask('admin/store/icon', { name });
      return response.ok ? dataUrlOf(await response.blob()) : undefined;
    },
    /** Where to log in; undefined if nobody has to. */
    loginPage:
      document.documentElement.dataset.auth === 'none'
        ? undefined
        : `admin/login${appearanceQuery(location.search)}`,
  };
}

/** The page's policy lets it show no picture of another address than its own text. */
function dataUrlOf(blob) {
  return new Promise((resolve) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result));
    reader.addEventListener('error', () => resolve(undefined));
    reader.readAsDataURL(blob);
  });
}

async function send(address, options) {
  try {
    return await fetchInSession(address, options);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Unreachable(t('The device does not answer.'));
  }
}

/**
 * Sends a file. fetch does not tell how far it is.
 * @param onProgress gets the part that was sent, 0 to 1
 * @returns `{ answer, cancel }`; a sending that was cancelled answers nothing
 */
function upload(file, onProgress, path = 'admin/store/upload') {
  const request = new XMLHttpRequest();
  const form = new FormData();
  // What is installed waits on the device until somebody has seen what it would do.
  if (path.endsWith('/upload')) form.append('hold', '1');
  form.append('file', file);
  request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / total));
  const sent = new Promise((resolve, reject) => {
    request.addEventListener('load', () => {
      const login = request.getResponseHeader('x-luci-login-required') ?? '';
      resolve(
        new Response(request.response, {
          status: request.status,
          headers: { 'x-luci-login-required': login },
        }),
      );
    });
    request.addEventListener('abort', () => resolve(undefined));
    request.addEventListener('error', () =>
      reject(
        new Refused(
          t(
            'The connection broke while the file was sent. It may be larger than the device ' +
              'takes, or have changed.',
          ),
        ),
      ),
    );
  });
  request.open('POST', path);
  for (const [name, value] of Object.entries(sessionHeaders())) {
    request.setRequestHeader(name, value);
  }
  request.send(form);
  return {
    answer: sent.then((response) => response && read(response)),
    cancel: () => request.abort(),
  };
}

async function read(response) {
  if (response.status === 204) return undefined;
  const body = await response.json().catch((error) => {
    if (error.name === 'AbortError') throw error;
  });
  if (body === undefined) {
    throw new Unreachable(
      t("The device's web server answers, but not the app service (HTTP {status}).", response),
    );
  }
  if (response.ok) return body;
  throw new Refused(daemonText(body.stderr || body.msg || `HTTP ${response.status}`), {
    status: response.status,
    needsLogin: response.headers.get('x-luci-login-required') === 'yes',
  });
}

/** A parameter whose value is a list is given several times. */
function formOf(parameters) {
  const pairs = Object.entries(parameters);
  return new URLSearchParams(
    pairs.flatMap(([name, value]) => [value].flat().map((one) => [name, one])),
  );
}
