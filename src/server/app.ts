import Fastify, { type FastifyError, type FastifyInstance } from "fastify";
import type { AppDependencies } from "./lib/app-dependencies.js";
import { Counters } from "./lib/counters.js";
import { Instruments } from "./lib/instruments.js";
import { installLimiter, rateLimited } from "./middleware/rateLimit.js";
import { diagnosis } from "./routes/diagnosis.js";
import { healthz } from "./routes/healthz.js";
import { metrics } from "./routes/metrics.js";
import { usage } from "./routes/usage.js";
import { heavy, light } from "./routes/workloads.js";

/** Longer than any pause of a benchmark, so that no connection is closed between warm-up and measurement. */
const KEEP_ALIVE_MS = 120_000;

/** Builds the server; it does not listen. */
export function buildApp(dependencies: AppDependencies): FastifyInstance {
  const { spec, limiter } = dependencies;
  const { complexity, log_level, diagnose } = spec.server;
  const app = Fastify({
    // To standard error: standard output contains one line, the address.
    logger: log_level === "silent" ? false : { level: log_level, stream: process.stderr },
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: 0,
    requestTimeout: 0,
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
  });
  const counters = new Counters();
  app.register(async (limited) => {
    if (limiter?.hook) await installLimiter(limited, counters, limiter.hook);
    limited.get("/light", rateLimited(counters, limiter, light));
    limited.get("/heavy", rateLimited(counters, limiter, heavy(complexity)));
  });
  healthz(app, dependencies);
  usage(app, dependencies, counters);
  metrics(app, counters, limiter);
  if (diagnose) diagnosis(app, counters, new Instruments());
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
