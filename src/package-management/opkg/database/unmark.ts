import type { Restoration } from '../../manager.ts';
import type { AutoInstalled } from './auto-installed.ts';

interface Marks {
  auto: Pick<AutoInstalled, 'forget'>;
  restoration: () => Promise<Pick<Restoration, 'recordsOf' | 'finish'>>;
}

/** opkg has no command that takes away its mark of what came as a dependency. */
export function createUnmark({ auto, restoration }: Marks): (name: string) => Promise<void> {
  return async (name) => {
    await auto.forget(name);
    const { recordsOf, finish } = await restoration();
    const record = (await recordsOf([name])).get(name) ?? '';
    const lines = record.split('\n').filter((line) => !line.startsWith('Auto-Installed:'));
    await finish(new Map([[name, lines.join('\n')]]));
  };
}
