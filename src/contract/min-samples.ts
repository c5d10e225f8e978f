/**
 * Samples that must stand behind a percentile before it is printed unmarked (rule M18): about a hundred of them beyond
 * the percentile. The report reads them from generated/min-samples.json.
 */
export const MIN_SAMPLES = { p99: 10_000, p99_9: 100_000 } as const;
