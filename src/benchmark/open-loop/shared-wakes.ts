/** The warm-up must last so long that the idle time in it means something. */
const MIN_WARMUP_MS = 1_000;

/**
 * Whether sends due within half a millisecond share a wake, which costs 20 µs of CPU, unless a whole CPU was idle.
 * @param idle_ms idle time in the warm-up of all CPUs that this process may use; undefined: not known
 */
export const sharesWakes = (idle_ms: number | undefined, warmup_ms: number): boolean =>
  idle_ms === undefined || warmup_ms < MIN_WARMUP_MS || idle_ms < warmup_ms;
