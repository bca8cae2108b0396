const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** `238.46 GiB`, `551 B`: units of 1024, two decimals. */
export function sizeText(bytes: number): string {
  const step =
    bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  return `${(bytes / 1024 ** step).toFixed(step === 0 ? 0 : 2)} ${UNITS[step] ?? ''}`;
}

/** `238.46 GB`: the same as iStore writes it, with `GB` for GiB. */
export function istoreSizeText(bytes: number): string {
  return sizeText(bytes).replace('iB', 'B');
}
