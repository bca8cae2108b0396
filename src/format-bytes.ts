const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB', 'EB'];

/** `238.46 GB`: units of 1024, two decimals, as the peer writes it. */
export function sizeText(bytes: number): string {
  const step =
    bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  return `${(bytes / 1024 ** step).toFixed(2)} ${UNITS[step] ?? ''}`;
}
