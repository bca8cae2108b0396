import * as fc from 'fast-check';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { startDaemon } from '../../device/daemon.ts';
import { createDevice } from '../../device/device.ts';
import { property, type FuzzTarget } from '../target.ts';
import { hostileAnswers, startHostileServer, type HostileAnswer } from './answers.ts';
import { evilLine, evilValue } from './texts.ts';
import { NODE_FLAGS, watch } from './watch.ts';

const BASE = '/DEFAULT/controller/v1/device';
const COMMANDS = [['fleet'], ['fleet', '--json'], ['doctor'], ['jobs']] as const;

/** An answer as it should be, of which some values are others. */
function spoilt(shape: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<object> {
  const entries = Object.entries(shape).map(
    ([key, good]) => [key, fc.oneof({ arbitrary: good, weight: 8 }, evilValue)] as const,
  );
  return fc.record(Object.fromEntries(entries), { requiredKeys: [] });
}

function linkTo(kind: string, thief: string): fc.Arbitrary<unknown> {
  const id = fc.integer({ min: 1, max: 1000 });
  const href = fc.oneof(
    { arbitrary: id.map((number) => `${BASE}/${kind}/${number}`), weight: 6 },
    id.map((number) => `${thief}${BASE}/${kind}/${number}`),
    id.map((number) => `//${thief.replace('http://', '')}/${kind}/${number}`),
    evilLine,
  );
  return spoilt({ href });
}

function polls(thief: string): fc.Arbitrary<object> {
  const sleep = fc.constantFrom('00:00:00', '00:05:00', '999:59:59', '-1:00:00', '00:00:01');
  return spoilt({
    config: spoilt({ polling: spoilt({ sleep }) }),
    _links: spoilt({
      deploymentBase: linkTo('deploymentBase', thief),
      cancelAction: linkTo('cancelAction', thief),
      confirmationBase: linkTo('confirmationBase', thief),
      configData: linkTo('configData', thief),
    }),
  });
}

function deployments(thief: string): fc.Arbitrary<object> {
  const urgency = fc.constantFrom('forced', 'attempt', 'skip');
  const artifact = spoilt({
    filename: fc.oneof(fc.constantFrom('a.ipk', '../../x.ipk', 'a.run'), evilLine),
    hashes: spoilt({ sha256: fc.constantFrom('0'.repeat(64), '../../x') }),
    size: fc.constantFrom(0, 1, -1, 1e15, 2 ** 40, 1000),
    _links: spoilt({ 'download-http': linkTo('artifacts', thief) }),
  });
  const metadata = spoilt({
    key: fc.constant('depotd.plan'),
    value: fc.oneof(
      fc.constant('{"version":1,"install":["nosuch"]}'),
      evilValue.map((value) => JSON.stringify({ version: 1, install: value })),
    ),
  });
  const chunk = spoilt({
    part: evilLine,
    version: evilLine,
    name: evilLine,
    artifacts: fc.array(artifact, { maxLength: 3 }),
    metadata: fc.array(metadata, { maxLength: 2 }),
  });
  const deployment = spoilt({
    download: urgency,
    update: urgency,
    chunks: fc.array(chunk, { maxLength: 3 }),
  });
  const id = fc.oneof(fc.integer({ min: 1, max: 1000 }).map(String), evilLine);
  return spoilt({ id, deployment, confirmation: deployment, cancelAction: spoilt({ stopId: id }) });
}

/** Whatever a fleet server answers, the daemon is bounded, answers others and asks nobody else. */
export async function hostileFleets(): Promise<FuzzTarget> {
  const server = await startHostileServer();
  const stolen: string[] = [];
  const thief = createServer((request, response) => {
    stolen.push(request.url ?? '');
    response.end('{}');
  });
  await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve));
  const thiefUrl = `http://127.0.0.1:${(thief.address() as AddressInfo).port}`;
  const device = await createDevice();
  const tokenFile = join(device.root, 'fleet-token');
  await writeFile(tokenFile, 'secret\n', { mode: 0o600 });
  const daemon = await startDaemon(device, {
    set: [
      `fleet.server=${server.url}`,
      'fleet.controller_id=device',
      `fleet.token_file=${tokenFile}`,
    ],
    nodeFlags: NODE_FLAGS,
  });
  const other = watch(daemon);
  const plain = (content: object): HostileAnswer => {
    const body = JSON.stringify(content);
    const length = Buffer.byteLength(body);
    const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
    return { head, body, times: 1, end: 'close' };
  };
  const answersOf = (good: fc.Arbitrary<object>): fc.Arbitrary<HostileAnswer> =>
    fc.oneof({ arbitrary: good.map(plain), weight: 5 }, hostileAnswers);
  const inputs = fc.record({
    poll: answersOf(polls(thiefUrl)),
    further: answersOf(deployments(thiefUrl)),
    command: fc.constantFrom(...COMMANDS),
  });
  const target = property('hostile fleets', 8, {
    inputs,
    check: ({ poll, further, command }) =>
      other.during(async () => {
        server.answer = (path) => (path === BASE ? poll : further);
        const asked = daemon.post('admin/fleet/poll').catch(() => undefined);
        const limit = new Promise((resolve) => setTimeout(resolve, 1500));
        await Promise.race([asked, limit]);
        server.release();
        await asked;
        if (stolen.length > 0) return `another host was asked for ${stolen.join(' ')}`;
        return other.terminal(...command);
      }),
  });
  return {
    ...target,
    close: async () => {
      server.close();
      thief.close();
      await daemon.close();
      await device.close();
    },
  };
}
