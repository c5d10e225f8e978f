import { definedOnly } from "../kit/defined-only.js";
import { DEFAULT_FRAMEWORK } from "../targets/frameworks.js";
import type { LoadPackage, WebRoutes, WebServer } from "./frameworks/framework.js";
import { builders } from "./frameworks/index.js";
import type { AppDependencies } from "./lib/app-dependencies.js";
import { Instruments } from "./lib/instruments.js";
import { Counters } from "./lib/server-counters.js";
import { rateLimited, routeHook } from "./middleware/rateLimit.js";
import { diagnosis, healthz, usage } from "./routes/healthz.js";
import { metrics } from "./routes/metrics.js";
import { heavy, light } from "./routes/workload-routes.js";

/**
 * Tells whether a hop is the one proxy that stands before a server that tells clients by their
 * address.
 */
const isProxy = (_address: string, hop: number): boolean => hop === 0;
const NOT_FOUND = {
  error: "not found",
  routes: ["/light", "/heavy", "/healthz", "/usage", "/metrics"],
};

/** Builds the server on the target's framework; it does not listen. */
export async function buildApp(
  dependencies: AppDependencies,
  load: LoadPackage,
): Promise<WebServer> {
  const { spec, target, limiter } = dependencies;
  const { complexity, log_level: logLevel, diagnose, by_address: byAddress } = spec.server;
  const counters = new Counters();
  const routes: WebRoutes = {
    ...definedOnly({
      hook: limiter?.hook ? routeHook(counters, limiter.hook, byAddress) : undefined,
    }),
    limited: {
      "/light": rateLimited(counters, limiter, light),
      "/heavy": rateLimited(counters, limiter, heavy(complexity)),
    },
    open: definedOnly({
      "/healthz": healthz(dependencies),
      "/usage": usage(dependencies, counters),
      "/metrics": metrics(counters, limiter),
      "/diagnosis": diagnose ? diagnosis(counters, new Instruments()) : undefined,
    }),
    notFound: (_request, reply) => reply.status(404).send(NOT_FOUND),
    onError: (error, request, reply) => {
      const status = error.statusCode ?? 500;
      if (status >= 500) request.log.error(error);
      reply.status(status).send({ error: status >= 500 ? "internal error" : error.message });
    },
  };
  const id = target.framework ?? DEFAULT_FRAMEWORK;
  const build = builders[id];
  if (!build) throw new Error(`no adapter for ${id}`);

  return build(
    routes,
    definedOnly({ logLevel, load, trustProxy: byAddress ? isProxy : undefined }),
  );
}
