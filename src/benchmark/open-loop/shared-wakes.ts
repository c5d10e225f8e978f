/** The warm-up must last so long that the idle time in it means something. */
const MIN_WARMUP_MS = 1_000;

/**
 * Whether sends that fall due within half a millisecond share a wake. A wake costs about 20 µs of CPU, which is taken from
 * others unless a whole CPU was idle during the warm-up.
 * @param idle_ms idle time in the warm-up of all CPUs that this process may use; undefined where it is not known
 */
export const sharesWakes = (idle_ms: number | undefined, warmup_ms: number): boolean =>
  idle_ms === undefined || warmup_ms < MIN_WARMUP_MS || idle_ms < warmup_ms;
