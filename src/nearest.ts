/** The word that was probably meant, for "did you mean"; undefined if none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: { word: string; distance: number } | undefined;
  // How many letters may be wrong; fewer in short words, which are near to everything.
  const most = word.length < 4 ? 1 : 2;
  const folded = word.toLowerCase();
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > most) continue;
    const distance = editDistance(folded, candidate.toLowerCase(), most);
    if (distance > most) continue;
    if (best === undefined || distance < best.distance) best = { word: candidate, distance };
  }
  return best?.word;
}

/**
 * Letters put in, left out, changed or swapped with a neighbour (optimal string alignment). What is
 * more than `most` is only known to be more: a list of packages has ten thousands of long words.
 */
function editDistance(one: string, other: string, most: number): number {
  const rows = [Array.from({ length: most + 1 }, (_, column) => column)];
  const cost = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let at = 1; at <= one.length; at += 1) {
    const row: number[] = [];
    row[0] = at;
    rows.push(row);
    let least = at;
    for (let to = Math.max(1, at - most); to <= Math.min(other.length, at + most); to += 1) {
      const isSame = one[at - 1] === other[to - 1];
      const isSwapped = at > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      const distance = Math.min(
        cost(at - 1, to) + 1,
        cost(at, to - 1) + 1,
        cost(at - 1, to - 1) + (isSame ? 0 : 1),
        isSwapped ? cost(at - 2, to - 2) + 1 : Infinity,
      );
      row[to] = distance;
      least = Math.min(least, distance);
    }
    if (least > most) return Infinity;
  }
  return cost(one.length, other.length);
}
