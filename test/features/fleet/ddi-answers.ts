import { createHash } from 'node:crypto';

import { isActive, TENANT, type Action, type Result, type State } from './ddi-state.ts';
import type { Assignment } from './fleet-server.ts';

/** What answers are made from. */
export interface Origin {
  state: State;
  /** The interval of polls, `HH:mm:ss`. */
  sleep: string;
  url: string;
}

export function pollOf({ state, sleep, url }: Origin, target: string): unknown {
  const base = `${url}/${TENANT}/controller/v1/${target}`;
  const action = [...state.actions.values()].find(
    (entry) => entry.target === target && isActive(entry),
  );
  const kinds = {
    running: 'deploymentBase',
    canceling: 'cancelAction',
    waiting: 'confirmationBase',
  };
  const kind = kinds[(action?.state ?? '') as 'running'] as string | undefined;
  // It changes with what the device is to do, and with each word of the device's.
  const text = JSON.stringify([action?.how, action?.entries, urgencyOf(action?.how ?? {})]);
  const version = createHash('md5').update(text).digest('hex').slice(0, 8);
  const links = {
    ...(action === undefined || kind === undefined
      ? {}
      : { [kind]: { href: `${base}/${kind}/${action.id}?c=${version}` } }),
    ...(state.attributes.has(target) ? {} : { configData: { href: `${base}/configData` } }),
  };
  return {
    config: { polling: { sleep } },
    ...(Object.keys(links).length === 0 ? {} : { _links: links }),
  };
}

export function configure(state: State, target: string, body: unknown): Result {
  const { mode, data } = body as { mode?: string; data?: Record<string, string> };
  if (!['replace', 'merge'].includes(mode ?? '') || data === undefined) return { status: 400 };
  const isTooLong = Object.entries(data)
    .flat()
    .some((part) => part.length > 128);
  if (isTooLong || Object.keys(data).length > 100) return { status: 400 };
  const before = mode === 'merge' ? state.attributes.get(target) : {};
  state.attributes.set(target, { ...before, ...data });
  return { status: 200 };
}

export function contentOf(
  exchange: Origin,
  action: Action,
  { kind, hasHistory }: { kind: string; hasHistory: boolean },
): Result {
  const states = {
    deploymentBase: 'running',
    cancelAction: 'canceling',
    confirmationBase: 'waiting',
  };
  if (states[kind as 'cancelAction'] !== action.state) return { status: 404 };
  const { id } = action;
  if (kind === 'cancelAction') {
    return { status: 200, content: { id, cancelAction: { stopId: id } } };
  }
  const name = kind === 'confirmationBase' ? 'confirmation' : 'deployment';
  const actionHistory = { status: 'RUNNING', messages: action.messages.toReversed() };
  return {
    status: 200,
    content: {
      id,
      [name]: deploymentOf(exchange, action),
      ...(hasHistory ? { actionHistory } : {}),
    },
  };
}

function deploymentOf({ state, url }: Origin, { target, set, how }: Action): unknown {
  const modules = state.sets.get(set) ?? [];
  const base = `${url}/${TENANT}/controller/v1/${target}/softwaremodules`;
  return {
    ...urgencyOf(how),
    chunks: modules.map(({ files = {}, metadata = {} }, index) => ({
      part: 'bApp',
      version: '1.0',
      name: `module-${index}`,
      artifacts: Object.entries(files).map(([filename, content]) => ({
        filename,
        hashes: {
          sha1: createHash('sha1').update(content).digest('hex'),
          md5: createHash('md5').update(content).digest('hex'),
          sha256: createHash('sha256').update(content).digest('hex'),
        },
        size: content.length,
        _links: {
          'download-http': {
            href: `${base}/${set}-${index}/artifacts/${encodeURIComponent(filename)}`,
          },
        },
      })),
      metadata: Object.entries(metadata).map(([key, value]) => ({ key, value })),
    })),
  };
}

function urgencyOf({ type = 'forced', window, forcedAt = 0 }: Assignment): Record<string, string> {
  if (window === 'closed') {
    return { download: 'forced', update: 'skip', maintenanceWindow: 'unavailable' };
  }
  if (window === 'open') {
    return { download: 'forced', update: 'forced', maintenanceWindow: 'available' };
  }
  if (type === 'downloadonly') return { download: 'forced', update: 'skip' };
  return type === 'soft' || (type === 'timeforced' && Date.now() < forcedAt)
    ? { download: 'attempt', update: 'attempt' }
    : { download: 'forced', update: 'forced' };
}
