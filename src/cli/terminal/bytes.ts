const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

/** `593 B`, `1.2 KiB`, `38 MiB`: units of 1024, as short as it can be read. */
export function bytesText(bytes: number): string {
  const size = Math.abs(bytes);
  let unit = 0;
  let value = size;
  // What is rounded up to 1024 is one of the next unit.
  while (Number(value.toFixed(0)) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 9.95 ? 0 : 1;
  return `${bytes < 0 ? '-' : ''}${value.toFixed(digits)} ${UNITS[unit] ?? ''}`;
}
