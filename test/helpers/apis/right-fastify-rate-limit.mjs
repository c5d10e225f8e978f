import rateLimit from "@fastify/rate-limit";
import Fastify from "fastify";
import { keyOfClient, settings } from "./http-api.mjs";

const app = Fastify();
await app.register(rateLimit, {
  max: settings.quota,
  timeWindow: settings.window_ms,
  keyGenerator: keyOfClient,
});
app.get("/api/items", async () => ({ items: [] }));
await app.listen({ port: settings.port, host: "127.0.0.1" });
