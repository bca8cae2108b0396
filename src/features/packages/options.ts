import { choice, integer, type Section } from '../../config/option.ts';
import { BACKENDS } from '../../package-management/select.ts';

const OPTIONS = {
  manager: choice('package manager; auto: the one that has packages on record', [
    'auto',
    ...BACKENDS.map(({ name }) => name),
  ]),
  update_every_h: integer(
    'hours between two looks for newer versions by itself; 0: never',
    0,
    [0, 8760],
  ),
};

/** `config depotd 'packages'`. */
export const PACKAGES_SECTION: Section<typeof OPTIONS> = {
  name: 'packages',
  options: OPTIONS,
  needsRestart: ['manager'],
};
