import { readFile } from 'node:fs/promises';

import type { TestDaemon } from '../device/daemon.ts';
import { ask, type Answer, type Question } from './ask.ts';
import { sessionIn, type SessionHeaders } from './session-headers.ts';

/** Somebody who knows, or does not know, the password of a daemon with `main.auth password`. */
export interface Owner {
  /** Sets the password; `old` where one is set. */
  setPassword: (password: string, old?: string, question?: Question) => Promise<Answer>;
  /** Sets the first one as root does who cannot use a unix socket: with the proof. */
  setFirstPassword: (password: string) => Promise<void>;
  tryPassword: (password: string, question?: Question) => Promise<Answer>;
  /** Logs in. @returns the headers that the session is known by, and its token */
  logIn: (password: string) => Promise<{ session: SessionHeaders; token: string }>;
}

export function createOwner(daemon: Pick<TestDaemon, 'url' | 'base'>): Owner {
  const at = (path: string): string => `${daemon.url}${daemon.base}/admin/${path}`;
  const tryPassword: Owner['tryPassword'] = (password, question) =>
    ask(at('login'), { method: 'POST', form: { password }, ...question });
  const setPassword: Owner['setPassword'] = (password, old, question) =>
    ask(at('passwd'), {
      method: 'POST',
      form: { password, ...(old === undefined ? {} : { old }) },
      ...question,
    });
  return {
    tryPassword,
    setPassword,
    setFirstPassword: async (password) => {
      const { proof_file: file = '' } = JSON.parse((await setPassword(password)).text) as {
        proof_file?: string;
      };
      const form = { password, proof: (await readFile(file, 'utf8')).trim() };
      const { status, text } = await ask(at('passwd'), { method: 'POST', form });
      if (status !== 204) throw new Error(`cannot set the password: ${status} ${text}`);
    },
    logIn: async (password) => {
      const answer = await tryPassword(password);
      if (answer.status !== 204) throw new Error(`cannot log in: ${answer.status} ${answer.text}`);
      const session = sessionIn(answer);
      const { token } = JSON.parse((await ask(at('store/token'), { headers: session })).text) as {
        token: string;
      };
      return { session, token };
    },
  };
}
