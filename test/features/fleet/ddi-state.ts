import type { Assignment, PublishedModule } from './fleet-server.ts';

export const TENANT = 'DEFAULT';

export interface Action {
  id: string;
  target: string;
  set: string;
  how: Assignment;
  state: 'running' | 'canceling' | 'waiting' | 'finished' | 'error' | 'canceled' | 'downloaded';
  messages: string[];
  entries: number;
}

export interface State {
  tokens: Map<string, string>;
  sets: Map<string, readonly PublishedModule[]>;
  actions: Map<string, Action>;
  attributes: Map<string, Record<string, string>>;
  lastId: number;
}

/** What is answered to a request. */
export interface Result {
  status: number;
  content?: unknown;
}

export function isActive({ state }: Action): boolean {
  return state === 'running' || state === 'canceling' || state === 'waiting';
}
