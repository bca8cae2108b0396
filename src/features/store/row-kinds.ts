import type { IndexRow } from './row.ts';
import type { NumberColumns } from './number-columns.ts';

/** Bits of the column `kinds`. */
const APP = 1;
const LUCI_APP = 2;
const FOR_OTHERS = 4;

/** @returns what a row's place in the column `kinds` holds */
export function kindOf(row: Pick<IndexRow, 'name' | 'isApp' | 'isLuciApp' | 'section'>): number {
  if (row.isApp) return row.isLuciApp === true ? APP | LUCI_APP : APP;
  return isForOthers(row.name, row.section) ? FOR_OTHERS : 0;
}

const SECTIONS_FOR_OTHERS = ['libs', 'kernel'];
/** Packages for others by name, since apk's lists have no sections. */
const NAMES_FOR_OTHERS = [
  /^(?:lib(?!reswan|respeed)|kmod-|luci-(?:i18n|lib|mod|proto|compat|base)|kernel$)/,
  /-(?:dev|dbg|src|doc|headers|firmware)$/,
];

function isForOthers(name: string, section: string): boolean {
  return (
    SECTIONS_FOR_OTHERS.includes(section) || NAMES_FOR_OTHERS.some((pattern) => pattern.test(name))
  );
}

type Kinds = Pick<NumberColumns, 'kinds'>;

export function isAppAt({ kinds }: Kinds, row: number): boolean {
  return ((kinds[row] ?? 0) & APP) !== 0;
}

/** Whether it is an app that has no meta package: its name is its package's. */
export function isLuciAppAt({ kinds }: Kinds, row: number): boolean {
  return ((kinds[row] ?? 0) & LUCI_APP) !== 0;
}

export function kindAt(kinds: Kinds, row: number): { isApp: boolean; isLuciApp?: true } {
  const isApp = isAppAt(kinds, row);
  return isLuciAppAt(kinds, row) ? { isApp, isLuciApp: true } : { isApp };
}

/** Whether it is there for other packages alone: a library, a kernel module, a translation. */
export function isForOthersAt({ kinds }: Kinds, row: number): boolean {
  return ((kinds[row] ?? 0) & FOR_OTHERS) !== 0;
}
