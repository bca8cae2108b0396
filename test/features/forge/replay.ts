import { createServer, type ServerResponse } from 'node:http';
import { listen, stop } from './device.ts';

/** What a real forge answered to one request. */
export interface Recorded {
  method: string;
  target: string;
  /** First line, then name, value, … */
  head: string[];
  /** base64 */
  body: string;
}

/**
 * A forge that gives recorded answers in their order and fails on a request that was not recorded
 * there.
 */
export async function startReplay(
  recorded: Recorded[],
): Promise<{ url: string; left: () => number; close: () => Promise<void> }> {
  let next = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const { method, url } = request;
      const known = recorded[next];
      // The device's own question before an edit names the pull request, whose last answer stands
      // for what a GET would have given.
      const isQuestion = method === 'GET' && known?.method === 'PATCH';
      const answer = isQuestion ? baseBefore(recorded, next) : known;
      if (!isQuestion) next += 1;
      if (answer !== undefined && answer.method === method && answer.target === url) {
        play(response, answer);
      } else response.writeHead(599, 'Not Recorded').end();
    });
  });
  const port = await listen(server);
  return {
    url: `http://127.0.0.1:${port}`,
    left: () => recorded.length - next,
    close: () => stop(server),
  };
}

function play(response: ServerResponse, { head, body }: Recorded): void {
  const [first = '', ...lines] = head;
  const passed = lines.filter(
    (_, index) => !/^(?:transfer-encoding|connection)$/i.test(lines[index - (index % 2)] ?? ''),
  );
  const [, status = '', reason = ''] = /^HTTP\/1\.1 (\d+) ?(.*)$/.exec(first) ?? [];
  response.writeHead(Number(status), reason, passed).end(Buffer.from(body, 'base64'));
}

/** The pull request as the last good answer about it showed it. */
function baseBefore(recorded: Recorded[], position: number): Recorded | undefined {
  const target = recorded[position]?.target;
  const last = recorded
    .slice(0, position)
    .findLast((one) => one.target === target && /^HTTP\/1\.1 20[01]/.test(one.head[0] ?? ''));
  return last === undefined
    ? undefined
    : { ...last, method: 'GET', head: ['HTTP/1.1 200 OK', ...last.head.slice(1)] };
}
