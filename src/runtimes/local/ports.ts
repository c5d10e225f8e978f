import { createServer } from "node:net";

/**
 * Below the range of outgoing connections (Linux: from 32768), of which a load test opens
 * thousands.
 */
const LOWEST = 15_000;
const HIGHEST = 32_000;
const ATTEMPTS = 1_000;

const issued = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}

/** A free loopback port that this process has not returned before. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (issued.has(port)) continue;
    issued.add(port);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port from ${LOWEST} to ${HIGHEST}`);
}
