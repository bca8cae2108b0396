import { valuesOf } from '../../src/config/config.ts';
import { anyText, text, type Section } from '../../src/config/option.ts';
import type { Feature, FeatureContext } from '../../src/features/feature.ts';
import { json } from '../../src/http/respond.ts';
import { get, postTask } from '../../src/http/route.ts';
import { submissionResult } from '../../src/http/task-result.ts';

const OPTIONS = { greeting: text('what it says', 'hello', anyText) };

export const TOY_SECTION: Section<typeof OPTIONS> = { name: 'toy', options: OPTIONS };

/** A feature that has something of everything that a feature can give. */
export function createToyFeature({ config, environment, submit, log }: FeatureContext): Feature {
  const greeting = (): string => valuesOf(config(), TOY_SECTION).greeting;
  let starts = 0;
  return {
    routes: () => [
      get({
        path: 'admin/toy/greeting',
        summary: 'What the toy says',
        params: {},
        handle: () => json({ greeting: greeting() }),
      }),
      postTask({
        path: 'admin/store/play',
        summary: 'Let the toy say it',
        params: {},
        handle: async () => json(submissionResult(await submit('play', 'bear', {}))),
      }),
    ],
    jobs: {
      play: {
        lane: 'toys',
        title: (subject) => `play with ${subject}`,
        plan: () => ({
          steps: [
            {
              id: 'say',
              label: 'say it',
              mustSucceed: true,
              command: () => ({ argv: ['echo', greeting()], environment, cwd: '/' }),
            },
          ],
          repair: [],
        }),
      },
    },
    health: () => Promise.resolve({ facts: { toy: { starts } } }),
    metrics: () => [
      { name: 'toy_starts', type: 'gauge', help: 'Starts.', samples: [{ value: starts }] },
    ],
    start: () => {
      starts += 1;
      return Promise.resolve();
    },
    close: () => {
      log.info({}, 'toy closed');
      return Promise.resolve();
    },
  };
}
