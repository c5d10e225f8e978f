/**
 * A relay passes on, delays, or holds what it carries. Holding is like a network that loses
 * packets, because connections stay open.
 */
export type RelayMode = { mode: "pass" } | { mode: "delay"; ms: number } | { mode: "hold" };

/** Longer than any request waits. */
const MOST_MS = 60_000;

const DELAY = /^delay (\d{1,5})$/;

/**
 * One line on the standard input of a relay, e.g. `pass`, `delay 20` or `hold`. The relay
 * prints the same line once it does so.
 */
export const relayLine = (mode: RelayMode): string =>
  mode.mode === "delay" ? `delay ${mode.ms}` : mode.mode;

export function parseRelayLine(line: string): RelayMode | undefined {
  if (line === "pass" || line === "hold") return { mode: line };
  const ms = Number(DELAY.exec(line)?.[1] ?? Number.NaN);
  return ms > 0 && ms <= MOST_MS ? { mode: "delay", ms } : undefined;
}

/** The line that a relay prints on standard error when it accepts connections. */
export const RELAY_LISTENS = "listening";
