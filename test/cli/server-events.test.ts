import { expect, test } from 'vitest';

import { parseEvents, type ServerEvent } from '../../src/cli/server-events.ts';

const STREAM =
  ':\n\nevent: log\nid: 12\ndata: "käse\\r\\n"\n\nevent: status\r\ndata: {"running":true}\r\n\r\nevent: log\ndata: "cut o';

test.each([1, 2, 3, 1000])(
  'events are the same however the bytes are cut (%i at a time)',
  async (size) => {
    const bytes = Buffer.from(STREAM);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );

    const events: ServerEvent[] = [];
    for await (const event of parseEvents(iterate(chunks))) events.push(event);

    expect(events).toEqual([
      { event: 'log', id: '12', data: 'käse\r\n' },
      { event: 'status', id: '', data: { running: true } },
    ]);
  },
);

async function* iterate(chunks: readonly Buffer[]): AsyncGenerator<Buffer, void> {
  yield* chunks;
}
