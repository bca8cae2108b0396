import type { Answer } from './ask.ts';

/** Both halves of a session, as a request carries them. */
export interface SessionHeaders extends Readonly<Record<string, string>> {
  cookie: string;
  'x-depotd-key': string;
}

/** What a log-in answered. */
export function sessionIn({ headers }: Answer): SessionHeaders {
  const key = headers['x-depotd-key'];
  return {
    cookie: headers['set-cookie']?.[0]?.split(';')[0] ?? '',
    'x-depotd-key': typeof key === 'string' ? key : '',
  };
}
