export interface ServerEvent {
  event: string;
  /** Id of the event; empty if it has none. */
  id: string;
  data: unknown;
}

/** Server-sent events (HTML standard) with JSON on one line; comments and unfinished ones go. */
export async function* parseEvents(
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<ServerEvent, void> {
  let fields = new Map<string, string>();
  for await (const line of linesOf(chunks)) {
    if (line !== '') {
      const [, name, value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? [];
      if (name !== undefined) fields.set(name, value);
      continue;
    }
    const { event = 'message', id = '', data } = Object.fromEntries(fields);
    if (data !== undefined) yield { event, id, data: JSON.parse(data) as unknown };
    fields = new Map();
  }
}

async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.replace(/\r$/, '');
  }
}
