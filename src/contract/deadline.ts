/** Waits for `work`, but no longer than this. @throws what `late` gives: an error, or the text of one */
export async function within<Value>(
  work: Promise<Value>,
  ms: number,
  late: () => string | Error,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = late();
      reject(reason instanceof Error ? reason : new Error(reason));
    }, ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
