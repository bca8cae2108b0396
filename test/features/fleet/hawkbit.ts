import type { ActionState, FleetServer, PublishedModule } from './fleet-server.ts';
import { createStandIn } from './stand-in.ts';
import { ERROR_PERCENTAGE, GROUP_PERCENTAGES, SUCCESS_PERCENTAGE, type Rollout } from './groups.ts';

/** The stand-in, and a real hawkBit if `HAWKBIT` is its address. */
export const SERVERS: [string, () => Promise<FleetServer>][] = [['the stand-in', createStandIn]];
const address = process.env.HAWKBIT;
if (address !== undefined) {
  SERVERS.push(['hawkBit', () => Promise.resolve(createHawkbit(address))]);
}

/** A running hawkBit, by its management interface: `HAWKBIT=http://127.0.0.1:8080`. */
export function createHawkbit(url: string): FleetServer {
  const run = Date.now().toString(36);
  let count = 0;
  const ask = askHawkbit(url);
  const first = async (path: string, body: object): Promise<string> => {
    const [made] = (await ask('POST', path, [body])) as { id: number }[];
    return String(made?.id);
  };
  const named = (letter: string): string => `${letter}-${run}-${(count += 1)}`;

  return {
    url,
    tenant: 'DEFAULT',
    addTarget: async (id) => {
      await ask('POST', '/targets', [{ controllerId: id, name: id }]);
      return ((await ask('GET', `/targets/${id}`)) as { securityToken: string }).securityToken;
    },
    publish: async (modules) => {
      const ids: string[] = [];
      for (const module of modules) {
        ids.push(await publishModule({ ask, first }, named('m'), module));
      }
      const name = named('d');
      const set = { name, version: '1.0', type: 'app', modules: ids.map((id) => ({ id })) };
      return first('/distributionsets', set);
    },
    assign: async (set, target, { type = 'forced', forcedAt, window, isConfirmed } = {}) => {
      const body = {
        id: target,
        type,
        ...(forcedAt === undefined ? {} : { forcetime: forcedAt }),
        ...(window === undefined ? {} : { maintenanceWindow: windowOf(window) }),
        ...(isConfirmed === false ? { confirmationRequired: true } : {}),
      };
      const made = (await ask('POST', `/distributionsets/${set}/assignedTargets`, [body])) as {
        assignedActions: { id: number }[];
      };
      return String(made.assignedActions[0]?.id);
    },
    rollOut: (set, how) => rollOut(ask, set, how),
    force: async (target, action) => {
      await ask('PUT', `/targets/${target}/actions/${action}`, { forceType: 'forced' });
    },
    cancel: async (target, action) => {
      await ask('DELETE', `/targets/${target}/actions/${action}`);
    },
    action: (target, action) => stateOf(ask, `/targets/${target}/actions/${action}`),
    attributes: async (target) =>
      (await ask('GET', `/targets/${target}/attributes`)) as Record<string, string>,
    close: () => Promise.resolve(),
  };
}

type Ask = (method: string, path: string, body?: object) => Promise<unknown>;

/** Questions to the management interface. */
export function askHawkbit(url: string): Ask {
  return async (method, path, body) => {
    const isForm = body instanceof FormData;
    const answer = await fetch(`${url}/rest/v1${path}`, {
      method,
      headers: {
        authorization: `Basic ${Buffer.from('admin:admin').toString('base64')}`,
        ...(isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`cannot ${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  };
}

async function publishModule(
  { ask, first }: { ask: Ask; first: (path: string, body: object) => Promise<string> },
  name: string,
  { files = {}, metadata = {} }: PublishedModule,
): Promise<string> {
  const id = await first('/softwaremodules', { name, version: '1.0', type: 'application' });
  for (const [fileName, content] of Object.entries(files)) {
    const form = new FormData();
    form.append('file', new Blob([new Uint8Array(content)]), fileName);
    await ask('POST', `/softwaremodules/${id}/artifacts`, form);
  }
  const entries = Object.entries(metadata).map(([key, value]) => ({
    key,
    value,
    targetVisible: true,
  }));
  if (entries.length > 0) await ask('POST', `/softwaremodules/${id}/metadata`, entries);
  return id;
}

async function rollOut(
  ask: Ask,
  set: string,
  { name, targets }: { name: string; targets: readonly string[] },
): Promise<Rollout> {
  const threshold = (percentage: number): object => ({
    condition: 'THRESHOLD',
    expression: String(percentage),
  });
  const { id } = (await ask('POST', '/rollouts', {
    name,
    distributionSetId: Number(set),
    targetFilterQuery: `controllerId=in=(${targets.join(',')})`,
    type: 'forced',
    groups: GROUP_PERCENTAGES.map((targetPercentage, index) => ({
      name: `group-${index}`,
      targetPercentage,
      successCondition: threshold(SUCCESS_PERCENTAGE),
      errorCondition: threshold(ERROR_PERCENTAGE),
      errorAction: { action: 'PAUSE', expression: '' },
    })),
  })) as { id: number };
  const status = async (): Promise<string> =>
    ((await ask('GET', `/rollouts/${id}`)) as { status: string }).status;
  while ((await status()) !== 'ready') await new Promise((resolve) => setTimeout(resolve, 200));
  await ask('POST', `/rollouts/${id}/start`);
  return { status };
}

async function stateOf(ask: Ask, path: string): Promise<ActionState> {
  const { status, active } = (await ask('GET', path)) as { status: string; active?: boolean };
  const { content } = (await ask('GET', `${path}/status?limit=500`)) as {
    content: { id: number; messages: string[] }[];
  };
  const sorted = content.toSorted((a, b) => a.id - b.id);
  return {
    status,
    isActive: active ?? !['finished', 'error', 'canceled'].includes(status),
    messages: sorted.flatMap(({ messages }) => messages),
  };
}

/** Open from now on for an hour, or at another time of the day. */
function windowOf(window: 'open' | 'closed'): object {
  const at = new Date(Date.now() + (window === 'open' ? -60_000 : 6 * 3_600_000));
  const schedule = `0 ${at.getUTCMinutes()} ${at.getUTCHours()} * * ?`;
  return { schedule, duration: '01:00:00', timezone: '+00:00' };
}
