import type { PackageListing } from '../../listing.ts';

/**
 * Damaged records keep apk from reading feeds, too, and it does not say which file it is: an answer
 * that fails for that names the file.
 */
export function namingDamage(
  listing: PackageListing,
  assertSound: () => Promise<void>,
): PackageListing {
  const orDamage = async (error: unknown): Promise<never> => {
    await assertSound();
    throw error;
  };
  return {
    ...listing,
    read: async function* (names) {
      try {
        yield* listing.read(names);
      } catch (error) {
        await orDamage(error);
      }
    },
    summarize: (visit) => listing.summarize(visit).catch(orDamage),
  };
}
