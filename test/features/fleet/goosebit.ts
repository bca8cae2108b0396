/** A running gooseBit, the second server of this interface: `GOOSEBIT=http://127.0.0.1:60053`. */
export interface Goosebit {
  readonly url: string;
  /** Assigns a new image to the target. It serves images of SWUpdate and RAUC alone. */
  readonly offer: (target: string) => Promise<void>;
  /** What the server knows of the target: its state, and the last lines that it was sent. */
  readonly target: (id: string) => Promise<{ state: string; log: string }>;
}

const USER = { username: 'admin@example.org', password: 'admin' };

export async function createGoosebit(url: string): Promise<Goosebit> {
  const token = await logIn(url);
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`cannot ${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  };
  return {
    url,
    offer: async (target) => {
      const version = `1.0.${Date.now()}`;
      const form = new FormData();
      const image = new Uint8Array(imageOf(version));
      form.append('file', new Blob([image]), `image-${version}.swu`);
      const { id } = (await ask('PUT', '/software', form)) as { id: number };
      await ask('PATCH', '/devices', { devices: [target], software: String(id) });
    },
    target: async (id) => {
      const { devices } = (await ask('GET', '/devices')) as {
        devices: { id: string; last_state: string | number }[];
      };
      const found = devices.find((device) => device.id === id);
      const { log } = (await ask('GET', `/devices/${id}/log`)) as { log: string | null };
      return { state: String(found?.last_state), log: log ?? '' };
    },
  };
}

/** The first one who comes makes the first user. */
async function logIn(url: string): Promise<string> {
  for (const path of ['/login', '/setup']) {
    const answer = await fetch(`${url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(USER),
    });
    const { access_token: token } = (await answer.json()) as { access_token?: string };
    if (token !== undefined) return token;
  }
  throw new Error(`cannot log in to ${url}`);
}

/** An archive (cpio, `newc`) whose first file says which version it is. */
function imageOf(version: string): Buffer {
  // Without a list of hardware it fits what is called `default`, as targets are.
  const content = Buffer.from(`software =
{
	version = "${version}";
};
`);
  const name = Buffer.from('sw-description\0');
  const sizes = [0, 0o100644, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0];
  const hex = sizes.map((size) => size.toString(16).padStart(8, '0')).join('');
  return Buffer.concat([Buffer.from(`070701${hex}`), name, Buffer.alloc(3), content]);
}
