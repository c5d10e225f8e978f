/** Milliseconds of the machine's monotonic clock: the same for all threads of all processes of this host. */
export const monotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
