/** Waits for `work`, but no longer than this. @throws Error with the text of `late` */
export async function within<Value>(work: Promise<Value>, ms: number, late: () => string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(late())), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
