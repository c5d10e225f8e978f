/**
 * How late a timer must be to show that its process was held up. Answers that came meanwhile are
 * read after the timer.
 */
const HELD_UP_MS = 250;

/**
 * Waits for `work`, but no longer than so many milliseconds, or once more where this process itself
 * stood still meanwhile.
 * @param discard takes a value that comes too late
 * @throws what `late` returns, which is an error or the text of one
 */
export async function within<Value>(
  work: Promise<Value>,
  ms: number,
  late: () => string | Error,
  discard?: (value: Value) => void,
): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    const wait = (): void => {
      const due_ms = performance.now() + ms;
      timer = setTimeout(() => {
        if (performance.now() - due_ms > HELD_UP_MS) return wait();
        const reason = late();
        if (discard) work.then(discard, () => {});
        reject(reason instanceof Error ? reason : new Error(reason));
      }, ms);
    };
    wait();
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
