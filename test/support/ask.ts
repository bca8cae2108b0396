import { request, type Agent, type IncomingHttpHeaders, type RequestOptions } from 'node:http';

export interface Question {
  method?: string;
  headers?: Readonly<Record<string, string | string[]>>;
  /** Sent as a form. */
  form?: Readonly<Record<string, string>>;
  /** Path of a unix socket to connect to. */
  socketPath?: string;
  /** Address to connect from. */
  localAddress?: string;
  /** Whose connections are used again, for who asks a thousand times. */
  agent?: Agent;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Of an event stream nothing: it is left when its headers have come. */
  text: string;
}

/** One request, on a connection of its own unless there is an agent, with exactly these headers. */
export function ask(
  url: string,
  { method = 'GET', headers = {}, form, socketPath, localAddress, agent }: Question = {},
): Promise<Answer> {
  const body = form === undefined ? '' : new URLSearchParams(form).toString();
  const bodyHeaders =
    form === undefined
      ? {}
      : {
          'content-type': 'application/x-www-form-urlencoded',
          'content-length': String(Buffer.byteLength(body)),
        };
  const where: RequestOptions = {
    ...(socketPath === undefined ? {} : { socketPath }),
    ...(localAddress === undefined ? {} : { localAddress }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method, agent: agent ?? false, headers: { ...bodyHeaders, ...headers }, ...where },
      (response) => {
        const answer = (text: string): void =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        if (response.headers['content-type']?.startsWith('text/event-stream') === true) {
          answer('');
          sent.destroy();
          return;
        }
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.on('end', () => answer(Buffer.concat(pieces).toString('utf8')));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
