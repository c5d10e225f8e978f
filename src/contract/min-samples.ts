/** Samples behind a percentile before it is printed unmarked (M18): a hundred beyond it. */
export const MIN_SAMPLES = { p99: 10_000, p99_9: 100_000 } as const;
