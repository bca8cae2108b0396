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

/** Calls below the page's own folder, so that any prefix in front of it does. */
export function createApi() {
  let token;

  const get = async (path, parameters = {}) => {
    const query = new URLSearchParams(parameters).toString();
    return read(await send(query === '' ? path : `${path}?${query}`, {}));
  };

  const postOnce = async (path, parameters) => {
    token ??= (await get('admin/store/token')).token;
    return read(await send(path, { method: 'POST', body: new URLSearchParams({ ...parameters, token }) }));
  };

  return {
    get,
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
    /** Bytes of a task's log; 0 where there is none. */
    logSize: async (id) => {
      const response = await send(logAddress(id), { method: 'HEAD' });
      return response.ok ? Number(response.headers.get('content-length') ?? 0) : 0;
    },
    /** Bytes of a task's log from an offset on; none where there are none yet. */
    logFrom: async (id, offset) => {
      const response = await send(`${logAddress(id)}&offset=${offset}`, {});
      return new Uint8Array(response.status === 200 ? await response.arrayBuffer() : 0);
    },
    /** Where to log in with depotd's own password; undefined where the device's panel does that. */
    loginPage: async () => ((await send('admin/login', { method: 'HEAD' })).ok ? 'admin/login' : undefined),
  };
}

export function logAddress(id) {
  return `admin/system/tasks/log?${new URLSearchParams({ task_id: id })}`;
}

async function send(address, options) {
  try {
    return await fetch(address, { credentials: 'same-origin', ...options });
  } catch {
    throw new Unreachable('The device does not answer.');
  }
}

async function read(response) {
  if (response.status === 204) return undefined;
  const body = await response.json().catch(() => undefined);
  if (body === undefined) throw new Unreachable(`The device's web server answers, but not the app service (HTTP ${response.status}).`);
  if (response.ok) return body;
  const needsLogin = response.headers.get('x-luci-login-required') === 'yes';
  throw new Refused(body.stderr || body.msg || `HTTP ${response.status}`, { status: response.status, needsLogin });
}
