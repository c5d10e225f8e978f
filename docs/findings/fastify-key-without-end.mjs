import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { Redis } from "ioredis";

const redis = new Redis(Number(process.env.PORT));
const app = Fastify();
await app.register(rateLimit, { global: false, max: 1, redis, nameSpace: "end-" });
const limit = app.createRateLimit();
const request = { ip: "192.0.2.1", routeOptions: {} };
await limit(request);
await redis.persist("end-192.0.2.1");
const { isExceeded, ttl } = await limit(request);
console.log({ isExceeded, ttl });
redis.disconnect();
