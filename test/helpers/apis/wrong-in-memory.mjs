import { keyOfClient, routeOf, serve, settings, wholeSeconds } from "./http-api.mjs";

/**
 * APIs that count in their own memory. Each differs from the first, which is right for one process,
 * in what DEFECT says.
 */
const RIGHT = {
  keyOf: (request, path) => `${routeOf(path)} ${keyOfClient(request)}`,
  admits: (used) => used <= settings.quota,
  windowBegin: (now) => now,
  wait: wholeSeconds,
};

/** A number for each connection. */
const connections = new WeakMap();
let connectionCount = 0;
function numberOf(socket) {
  if (!connections.has(socket)) connections.set(socket, ++connectionCount);
  return connections.get(socket);
}

const DEFECTS = {
  // Right for one process: each of several has the whole quota.
  "per-instance": {},
  "never-active": { admits: () => true },
  "off-by-one": { admits: (used) => used <= settings.quota + 1 },
  // The windows of all keys begin at multiples of their length: around an end twice the quota.
  "window-edge": { windowBegin: (now) => now - (now % settings.window_ms) },
  "per-connection": { keyOf: (request) => `${keyOfClient(request)} ${numberOf(request.socket)}` },
  "forwarded-for": {
    keyOf: (request) => `${keyOfClient(request)} ${request.headers["x-forwarded-for"] ?? ""}`,
  },
  "trailing-slash": { keyOf: (request, path) => `${path.toLowerCase()} ${keyOfClient(request)}` },
  "letter-case": {
    keyOf: (request, path) => `${path.replace(/\/$/, "")} ${keyOfClient(request)}`,
  },
  "truncated-keys": {
    keyOf: (request, path) => `${routeOf(path)} ${keyOfClient(request).slice(0, 64)}`,
  },
  "shared-routes": { keyOf: keyOfClient },
  "wait-in-ms": { wait: (left_ms) => Math.ceil(left_ms) },
  // Rounded down: a client that waits as long as it is told is denied again.
  "wait-too-short": { wait: (left_ms) => Math.floor(left_ms / 1_000) },
  "wait-in-the-past": { wait: () => new Date(Date.now() - 60_000).toUTCString() },
  "status-403": { denied: 403 },
};

const { admits, windowBegin, ...limiter } = { ...RIGHT, ...DEFECTS[process.env.DEFECT] };
const windows = new Map();

async function decide(key) {
  const now = Date.now();
  let window = windows.get(key);
  if (!window || now >= window.end_ms) {
    window = { used: 0, end_ms: windowBegin(now) + settings.window_ms };
    windows.set(key, window);
  }
  const used = ++window.used;
  return { admitted: admits(used), used, left_ms: window.end_ms - now };
}

serve({ ...limiter, decide });
