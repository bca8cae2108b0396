import { DepotError } from '../../errors.ts';
import { flagIn, memberIn, numberIn, textIn } from '../answer-fields.ts';
import type { CommandContext } from '../command-context.ts';
import { formatFields, formatTime, sizeIn } from '../terminal/table.ts';

/** The fleet server and its action, after a change of them if one is asked for. */
export async function showFleet(context: CommandContext): Promise<number> {
  const { output, invocation } = context;
  const status = await askFor(context);
  if (invocation.given.has('json')) await output.printJson(status);
  else if (!flagIn(status, 'is_configured')) output.say('no fleet server is set');
  else await output.print(formatFields(fieldsOf(status), output.look));
  return 0;
}

async function askFor({ client, invocation }: CommandContext): Promise<unknown> {
  const [word, id] = invocation.names;
  if (word === undefined) return client.get('admin/fleet/status');
  if (word === 'poll') return client.post('admin/fleet/poll', {});
  if (word === 'on' || word === 'off') {
    return client.post('admin/fleet/switch', { enable: word === 'on' ? '1' : '0' });
  }
  const asked = id ?? textIn(memberIn(await client.get('admin/fleet/status'), 'action'), 'id');
  if (asked === '') {
    throw new DepotError('not_found', 'cannot answer: the server asks for nothing');
  }
  const confirm = word === 'confirm' ? '1' : '0';
  return client.post('admin/fleet/confirm', { id: asked, confirm });
}

function fieldsOf(status: unknown): [string, string][] {
  const action = memberIn(status, 'action');
  return [
    ['server', textIn(status, 'server')],
    ['this device', textIn(status, 'controller_id')],
    ['may act', flagIn(status, 'is_on') ? 'yes' : 'no: switched off'],
    ['last poll', timeIn(status, 'polled_at')],
    ['next poll', timeIn(status, 'next_poll_at')],
    ['error', textIn(status, 'last_error')],
    ['action', [textIn(action, 'id'), textIn(action, 'title')].filter(Boolean).join(': ')],
    ['state', [textIn(action, 'state'), textIn(action, 'result')].filter(Boolean).join(', ')],
    ['downloaded', bytesIn(action)],
    ['message', textIn(action, 'message')],
    ['task', textIn(action, 'task_id')],
  ];
}

function bytesIn(action: unknown): string {
  const [done, total] = [sizeIn(action, 'downloaded_bytes'), sizeIn(action, 'total_bytes')];
  return done === '' || total === '' ? '' : `${done} of ${total}`;
}

function timeIn(body: unknown, name: string): string {
  const seconds = numberIn(body, name);
  return seconds === undefined ? '' : formatTime(seconds);
}
