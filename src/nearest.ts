/** The word that was probably meant, for "did you mean"; undefined if none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: { word: string; distance: number } | undefined;
  // How many letters may be wrong; fewer in short words, which are near to everything.
  const most = word.length < 4 ? 1 : 2;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > most) continue;
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance > most) continue;
    if (best === undefined || distance < best.distance) best = { word: candidate, distance };
  }
  return best?.word;
}

/** Letters put in, left out, changed or swapped with a neighbour (optimal string alignment). */
function editDistance(one: string, other: string): number {
  const rows = [Array.from({ length: other.length + 1 }, (_, column) => column)];
  const cost = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let at = 1; at <= one.length; at += 1) {
    const row = [at];
    rows.push(row);
    for (let to = 1; to <= other.length; to += 1) {
      const isSame = one[at - 1] === other[to - 1];
      const isSwapped = at > 1 && one[at - 1] === other[to - 2] && one[at - 2] === other[to - 1];
      row[to] = Math.min(
        cost(at - 1, to) + 1,
        cost(at, to - 1) + 1,
        cost(at - 1, to - 1) + (isSame ? 0 : 1),
        isSwapped ? cost(at - 2, to - 2) + 1 : Infinity,
      );
    }
  }
  return cost(one.length, other.length);
}
