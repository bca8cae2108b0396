import { connect } from 'node:net';

/** What comes later than that is not waited for. */
const LIMIT_MS = 1500;
const MOST_BYTES = 8 * 1024 ** 2;

/** Asks for a path of the forge. @returns the head of the answer, or what came of it */
export function rawAnswer(
  url: string,
  { method, path, header }: { method: string; path: string; header: string },
): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    let bytes = 0;
    const finish = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text.split('\r\n\r\n')[0] ?? '');
    };
    const timer = setTimeout(finish, LIMIT_MS);
    socket
      .setEncoding('latin1')
      .on('data', (piece: string) => {
        bytes += piece.length;
        if (text.length < 100_000) text += piece;
        if (bytes > MOST_BYTES) finish();
      })
      .on('error', finish)
      .on('close', finish);
    const body = method === 'POST' ? 'Content-Length: 2\r\n\r\n{}' : '\r\n';
    socket.write(
      `${method} /api/v1${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${header}${body}`,
    );
  });
}
