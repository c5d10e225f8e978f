/**
 * What every client is given, so that a difference between two of them is not a difference of settings. Why each
 * value, and what the libraries do by default, is in docs/clients.md.
 */
export const common = {
  requestTimeoutMs: 5_000,
  connectTimeoutMs: 3_000,
  /** Between two attempts to connect again. */
  reconnectDelayMs: 200,
  tcpKeepAliveMs: 30_000,
} as const;

/** How long `open` tries before it gives up. */
export const OPEN_DEADLINE_MS = 5_000;
