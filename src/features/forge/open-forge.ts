import { answerFailure } from './failure.ts';
import type { Forge, ForgeOptions } from './forge.ts';
import { createTargetReader } from './target.ts';

/**
 * The forge that is configured, or one that answers 503 if none is. The proxy is loaded only for
 * a device that has a forge, since others need its memory.
 * @throws Error if `ca_file` cannot be read
 */
export async function openForge(options: ForgeOptions): Promise<Forge> {
  if (options.settings.upstream === '') return createAbsentForge(options);
  const { createForge } = await import('./forge.ts');
  return createForge(options);
}

function createAbsentForge({ settings, base }: ForgeOptions): Forge {
  const targets = createTargetReader({ path: settings.path, base });
  return {
    owns: (rawTarget) => targets.owns(rawTarget),
    handle: (_request, response) =>
      answerFailure(response, {
        code: 'unavailable',
        message: 'cannot reach a forge: none is configured (forge.upstream)',
      }),
    hook: () => undefined,
    describe: () => Promise.resolve(undefined),
    health: () => ({ configured: false }),
    metrics: () => [],
    close: () => Promise.resolve(),
  };
}
