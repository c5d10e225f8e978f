import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { Redis } from "ioredis";

const redis = new Redis(Number(process.env.PORT));
const app = Fastify();
await app.register(rateLimit, { global: false, redis });
const login = app.createRateLimit({ max: 2 });
const search = app.createRateLimit({ max: 2 });
const request = { ip: "192.0.2.1", routeOptions: {} };
await login(request);
await login(request);
console.log("first search is exceeded:", (await search(request)).isExceeded);
console.log(await redis.keys("*"));
redis.disconnect();
