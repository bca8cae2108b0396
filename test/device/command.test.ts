import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';

import { timeLimit } from '../../src/device/command.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('a time limit beside another reason to stop comes, also if memory is cleared meanwhile', async () => {
  const signal = AbortSignal.any([new AbortController().signal, timeLimit(200)]);
  const isOver = once(signal, 'abort');
  const clearing = setInterval(collectGarbage, 20);

  const late = new Promise((resolve) => setTimeout(resolve, 5000, 'late'));
  const first = await Promise.race([isOver.then(() => 'in time'), late]);

  clearInterval(clearing);
  expect(first).toBe('in time');
});
