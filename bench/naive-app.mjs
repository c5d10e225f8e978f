// What somebody measures who has no benchmark: one route behind a limiter of rate-limiter-flexible, from the folder LIMITER.
import { createRequire } from "node:module";
import Fastify from "fastify";
import { Redis } from "ioredis";

const { LIMITER, STORE_PORT, PORT } = process.env;
const { RateLimiterRedis } = createRequire(import.meta.url)(LIMITER);
const storeClient = new Redis({ port: Number(STORE_PORT) });
const limiter = new RateLimiterRedis({
  storeClient,
  points: 1e9,
  duration: 60,
  keyPrefix: "naive",
});
const app = Fastify();
app.get("/", async (request) => {
  await limiter.consume(request.ip);
  return { ok: true };
});
await app.listen({ port: Number(PORT), host: "127.0.0.1" });
