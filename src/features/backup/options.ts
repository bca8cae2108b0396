import { choice, type Section } from '../../config/option.ts';

const OPTIONS = {
  after_upgrade: choice('bring everything back by itself after a firmware upgrade', ['0', '1']),
};

/** `config depotd 'backup'`. */
export const BACKUP_SECTION: Section<typeof OPTIONS> = { name: 'backup', options: OPTIONS };
