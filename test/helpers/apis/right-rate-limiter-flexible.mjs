import { Redis } from "ioredis";
import { RateLimiterRedis, RateLimiterRes } from "rate-limiter-flexible";
import { keyOfClient, serve, settings, wholeSeconds } from "./http-api.mjs";

const limiter = new RateLimiterRedis({
  storeClient: new Redis(Number(process.env.STORE_PORT), "127.0.0.1"),
  points: settings.quota,
  duration: settings.window_ms / 1_000,
});

async function decide(key) {
  try {
    const { consumedPoints, msBeforeNext } = await limiter.consume(key);
    return { admitted: true, used: consumedPoints, left_ms: msBeforeNext };
  } catch (denial) {
    if (!(denial instanceof RateLimiterRes)) throw denial;
    return { admitted: false, used: denial.consumedPoints, left_ms: denial.msBeforeNext };
  }
}

serve({
  keyOf: keyOfClient,
  decide,
  wait: wholeSeconds,
  failed: (response) => response.writeHead(503).end(),
});
