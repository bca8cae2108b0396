/**
 * What a call gives, or undefined if it fails or takes too long; a disk that has gone may keep
 * statfs(2) waiting for ever.
 */
export async function within<Value>(
  limitMs: number,
  call: () => Promise<Value>,
): Promise<Value | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), limitMs);
  });
  try {
    return await Promise.race([call().catch(() => undefined), isOver]);
  } finally {
    clearTimeout(timer);
  }
}
