/**
 * Settings that all clients share, so that a difference between two clients is not a difference of settings.
 * docs/clients.md has the reason for each value, and the defaults of the libraries.
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
