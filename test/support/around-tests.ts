import { afterAll, afterEach, beforeEach } from 'vitest';

/**
 * Opens something anew for each test of a file and closes it again.
 *
 * @returns for a test to call at its end that left all as it was: the next one goes on with it
 */
export function aroundTests(open: () => Promise<void>, close: () => Promise<void>): () => void {
  let isOpen = false;
  let isAsBefore = false;
  const end = async (): Promise<void> => {
    if (isOpen) await close();
    isOpen = false;
  };
  beforeEach(async () => {
    if (!isOpen) await open();
    isOpen = true;
    isAsBefore = false;
  });
  afterEach(async () => {
    if (!isAsBefore) await end();
  });
  afterAll(end);
  return () => {
    isAsBefore = true;
  };
}
