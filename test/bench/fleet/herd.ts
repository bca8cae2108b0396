import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

import { createDdiClient, type DdiClient } from '../../../src/features/fleet/ddi/ddi-client.ts';
import { createConnection } from '../../../src/features/fleet/ddi/ddi-connection.ts';

/** Simulated devices: each exchange has a connection of its own. */
export interface Herd {
  readonly ids: readonly string[];
  /** The devices one after the other, so many at a time. */
  readonly each: (
    ids: readonly string[],
    atOnce: number,
    work: (client: DdiClient, id: string) => Promise<void>,
  ) => Promise<void>;
  /** All poll once each `everyMs`, at moments spread over it. @returns ends it */
  readonly pollEach: (everyMs: number) => () => Promise<HerdPolls>;
}

export interface HerdPolls {
  failed: number;
  /** Milliseconds of each that was answered, sorted. */
  latenciesMs: number[];
}

export function createHerd(
  tokens: ReadonlyMap<string, string>,
  { urls, tenant }: { urls: readonly string[]; tenant: string },
): Herd {
  const ids = [...tokens.keys()];
  let turn = 0;
  const withClient = async (
    id: string,
    work: (client: DdiClient, id: string) => Promise<void>,
  ): Promise<void> => {
    const server = urls[(turn += 1) % urls.length] ?? '';
    const authorization = `TargetToken ${tokens.get(id) ?? ''}`;
    const connection = createConnection(server, { authorization, tls: {} });
    const client = createDdiClient({ server, tenant, controllerId: id }, connection);
    await work(client, id).finally(client.close);
  };
  return {
    ids,
    each: async (some, atOnce, work) => {
      const left = some.values();
      const run = async (): Promise<void> => {
        for (const id of left) await withClient(id, work);
      };
      await Promise.all(Array.from({ length: atOnce }, run));
    },
    pollEach: (everyMs) => {
      const polls: HerdPolls = { failed: 0, latenciesMs: [] };
      const under = new Set<Promise<void>>();
      const poll = async (id: string): Promise<void> => {
        const begin = performance.now();
        try {
          await withClient(id, pollOnce);
          polls.latenciesMs.push(performance.now() - begin);
        } catch {
          polls.failed += 1;
        }
      };
      const over = new AbortController();
      const begun = performance.now();
      const loop = (async () => {
        for (let index = 0; !over.signal.aborted; index += 1) {
          const due = begun + (index * everyMs) / ids.length;
          if (due > performance.now()) await delay(due - performance.now());
          const one = poll(ids[index % ids.length] ?? '').finally(() => under.delete(one));
          under.add(one);
        }
      })();
      return async () => {
        over.abort();
        await loop;
        await Promise.all(under);
        polls.latenciesMs.sort((a, b) => a - b);
        return polls;
      };
    },
  };
}

export async function pollOnce(client: DdiClient): Promise<void> {
  await client.poll(undefined);
}

/** The requests of an update, in the order of a daemon's (the figures of a real one are its own). */
export async function update(client: DdiClient): Promise<void> {
  const offered = async (): Promise<string | undefined> => {
    const answer = await client.poll(undefined);
    return answer === 'unchanged' ? undefined : answer.poll._links?.deploymentBase?.href;
  };
  const href = await offered();
  if (href === undefined) throw new Error('a simulated device is offered no action');
  const { id, deployment } = await client.deployment(href);
  await client.report(id, { execution: 'download' });
  for (const { _links: links } of deployment.chunks.flatMap(({ artifacts }) => artifacts)) {
    const file = links['download-http']?.href ?? '';
    const response = await client.download(file, 0, new AbortController().signal);
    await once(response.resume(), 'end');
  }
  await client.report(id, { execution: 'proceeding' });
  await client.deployment(href);
  await client.report(id, { execution: 'closed', finished: 'success' });
  await client.configure({ arch: 'x86_64', package_manager: 'opkg' });
}
