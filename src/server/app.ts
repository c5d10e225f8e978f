import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import { Counters } from "./lib/counters.js";
import type { AppParts } from "./lib/parts.js";
import { rateLimited } from "./middleware/rateLimit.js";
import { healthz } from "./routes/healthz.js";
import { heavy } from "./routes/heavy.js";
import { light } from "./routes/light.js";
import { metrics } from "./routes/metrics.js";
import { usage } from "./routes/usage.js";

/** Longer than any pause of a benchmark: a connection must not be closed between warm-up and measurement. */
const KEEP_ALIVE_MS = 120_000;

/** Builds the server; it does not listen. */
export function buildApp(parts: AppParts): FastifyInstance {
  const { config, limiters } = parts;
  const app = Fastify({
    // On standard error: standard output has one line, the address.
    logger: config.logLevel === "silent" ? false : { level: config.logLevel, stream: process.stderr },
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: 0,
    requestTimeout: 0,
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
  });
  const counters = new Counters();
  app.get("/light", rateLimited(counters, limiters, light));
  app.get("/heavy", rateLimited(counters, limiters, heavy(config.complexity)));
  healthz(app, parts);
  usage(app, parts, counters);
  metrics(app, counters);
  app.setNotFoundHandler((_request, reply) => {
    reply
      .code(404)
      .send({ error: "not found", routes: ["/light", "/heavy", "/healthz", "/usage", "/metrics"] });
  });
  app.setErrorHandler((error: FastifyError, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status >= 500) request.log.error(error);
    reply.code(status).send({ error: status >= 500 ? "internal error" : error.message });
  });
  return app;
}
