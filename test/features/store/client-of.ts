import { expect } from 'vitest';

import type { Item } from '../../../src/features/store/documentation.ts';
import type { EitherStore } from './open-stores.ts';

interface Page {
  total: number;
  suggestion?: string;
  page: number;
  per_page: number;
  items: Item[];
}

export type Parameters = Record<string, string>;

/** Asks the daemon of one store. */
export function clientOf(storeOf: () => EitherStore): {
  ask: (query: Parameters, headers?: Parameters, path?: string) => Promise<Response>;
  pageOf: (query: Parameters) => Promise<Page>;
  namesOf: (query: Parameters) => Promise<string[]>;
  /** The list and the details of an app say the same, and a search finds it. */
  expectTexts: (texts: Pick<Item, 'name' | 'title' | 'description'>) => Promise<void>;
} {
  const ask = (query: Parameters, headers?: Parameters, path = 'available'): Promise<Response> =>
    storeOf().daemon.get(`admin/store/${path}?${new URLSearchParams(query).toString()}`, headers);
  const pageOf = async (query: Parameters): Promise<Page> => {
    const answer = await ask(query);
    expect(answer.status).toBe(200);
    return (await answer.json()) as Page;
  };
  const namesOf = async (query: Parameters): Promise<string[]> =>
    (await pageOf({ kind: 'all', ...query })).items.map(({ name }) => name);
  return {
    ask,
    pageOf,
    namesOf,
    expectTexts: async (texts) => {
      const { items } = await pageOf({ q: texts.name });
      const details = await ask({ package: texts.name }, {}, 'details');
      expect(items.find(({ name }) => name === texts.name)).toMatchObject(texts);
      expect(await details.json()).toMatchObject({ ...texts, kind: 'app' });
      expect(await namesOf({ q: texts.description, kind: 'app' })).toEqual([texts.name]);
    },
  };
}
