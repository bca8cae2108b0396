import { request, type OutgoingHttpHeaders } from 'node:http';
import { connect } from 'node:net';

export interface RawRequest {
  method?: string;
  headers?: OutgoingHttpHeaders | readonly string[];
  body?: string | Buffer;
  /** Instead of the address in the URL. */
  socketPath?: string;
}

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** A request whose every header can be chosen, the Host too, which fetch() does not let one do. */
export function send(
  url: string,
  { method = 'GET', headers = {}, body, socketPath }: RawRequest = {},
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { pathname, search, hostname, port } = new URL(url);
    const place =
      socketPath === undefined ? { host: hostname.replace(/^\[|\]$/g, ''), port } : { socketPath };
    const outgoing = request(
      { ...place, path: `${pathname}${search}`, method, headers, agent: false },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }),
        );
        answer.on('error', reject);
      },
    );
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends bytes that need not be HTTP; what comes back is taken apart as HTTP. */
export function sendBytes(url: string, bytes: string | Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) }, () => socket.end(bytes));
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece));
    socket.on('error', reject);
    socket.on('close', () => resolve(parseAnswer(text)));
  });
}

function parseAnswer(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map(
    (line) =>
      [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ] as const,
  );
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), body };
}

/** What every refusal looks like; gives its message. */
export function messageOf({ status, headers, body }: RawAnswer): string {
  if (headers['content-type'] !== 'application/json; charset=utf-8') {
    throw new Error(`cannot take for JSON: ${status} ${JSON.stringify(headers)} ${body}`);
  }
  const { code, msg } = JSON.parse(body) as { code: number; msg: string };
  if (code !== status || !msg.startsWith('cannot ')) {
    throw new Error(`cannot take for a refusal: ${status} ${body}`);
  }
  return msg;
}
