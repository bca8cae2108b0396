import { choice, type Section } from '../../config/option.ts';
import { BACKENDS } from './select-manager.ts';

const OPTIONS = {
  manager: choice('package manager; auto: the one that has packages on record', [
    'auto',
    ...BACKENDS.map(({ name }) => name),
  ]),
};

/** `config depotd 'packages'`. */
export const PACKAGES_SECTION: Section<typeof OPTIONS> = {
  name: 'packages',
  options: OPTIONS,
  needsRestart: ['manager'],
};
