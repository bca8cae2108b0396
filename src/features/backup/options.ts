import { integer, type Section } from '../../config/option.ts';

const OPTIONS = {
  after_upgrade: integer('bring everything back by itself after a firmware upgrade: 1', 0, [0, 1]),
};

/** `config depotd 'backup'`. */
export const BACKUP_SECTION: Section<typeof OPTIONS> = { name: 'backup', options: OPTIONS };
