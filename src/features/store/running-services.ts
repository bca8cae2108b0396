import * as v from 'valibot';
import { withUbus } from '../../device/ubus/ubus-connection.ts';
import { byName } from '../../package-management/names.ts';

const TIMEOUT_MS = 2000;

/** procd's answer: the instances of each service (procd, service/service.c). */
const services = byName(
  v.looseObject({
    instances: v.optional(v.record(v.string(), v.looseObject({ running: v.boolean() })), {}),
  }),
);

/**
 * Whether one of these services runs, as procd knows it.
 * @param socketPath ubusd's socket
 * @returns undefined if procd has none of them, as on a device without procd
 */
export async function isRunning(
  socketPath: string,
  names: readonly string[],
): Promise<boolean | undefined> {
  const found = await withUbus({ socketPath, timeoutMs: TIMEOUT_MS }, async (call) => {
    const ask = async (name: string): Promise<unknown> =>
      (await call({ object: 'service', method: 'list', message: { name } })).messages[0];
    return Promise.all(names.map(ask));
  }).catch(() => []);
  const instances = found
    .flatMap((message) => (v.is(services, message) ? Object.values(message) : []))
    .map((service) => Object.values(service.instances ?? {}));
  if (instances.length === 0) return undefined;
  return instances.flat().some(({ running }) => running);
}
