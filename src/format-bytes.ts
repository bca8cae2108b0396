const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];

/** `238.46 GiB`, `551 B`: units of 1024, two decimals, and none of a byte. */
export function sizeText(bytes: number): string {
  return decimalText(bytes).replace('.00 B', ' B');
}

/** `238.46 GB`, `551.00 B`: as iStore writes it, with `GB` for GiB. */
export function istoreSizeText(bytes: number): string {
  return decimalText(bytes).replace('iB', 'B');
}

function decimalText(bytes: number): string {
  const step =
    bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  return `${(bytes / 1024 ** step).toFixed(2)} ${UNITS[step] ?? ''}`;
}
