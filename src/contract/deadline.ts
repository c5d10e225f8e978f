/**
 * Waits for `work`, but no longer than this. @param discard gets what comes too late
 * @throws what `late` gives: an error, or the text of one
 */
export async function within<Value>(
  work: Promise<Value>,
  ms: number,
  late: () => string | Error,
  discard?: (value: Value) => void,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = late();
      if (discard) work.then(discard, () => {});
      reject(reason instanceof Error ? reason : new Error(reason));
    }, ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
