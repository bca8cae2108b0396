/** What the browser keeps for all pages of this origin. One that keeps nothing has none of it. */

export function readKept(name) {
  try {
    return localStorage.getItem(name) ?? '';
  } catch {
    return '';
  }
}

export function keep(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch {
    // Whoever reads it does without.
  }
}
