/** Leaves out the keys that have nothing to say: undefined, empty texts and lists, 0. */
export function withoutEmpty<Keys extends object>(
  keys: Keys,
): { [Key in keyof Keys]?: Exclude<Keys[Key], undefined> } {
  const said = Object.entries(keys).filter(
    ([, value]) =>
      value !== undefined &&
      value !== '' &&
      value !== 0 &&
      !(Array.isArray(value) && !value.length),
  );
  return Object.fromEntries(said) as { [Key in keyof Keys]?: Exclude<Keys[Key], undefined> };
}
