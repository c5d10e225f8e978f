import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";

const app = Fastify();
await app.register(rateLimit, { global: false, max: 1, timeWindow: "1 hour" });
const limit = app.createRateLimit();
const from = (ip) => limit({ ip, routeOptions: {} });
await from("192.0.2.1");
console.log("at once:", (await from("192.0.2.1")).isExceeded);
for (let n = 0; n < 5000; n++) await from(`10.0.${n >> 8}.${n & 255}`);
console.log("after 5000 others:", (await from("192.0.2.1")).isExceeded);
