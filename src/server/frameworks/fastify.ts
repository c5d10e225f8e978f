import Fastify from "fastify";
import { type BuildServer, KEEP_ALIVE_MS } from "./framework.js";

export const buildFastify: BuildServer = async (routes, { logLevel, trustProxy = false }) => {
  const app = Fastify({
    // The log goes to standard error, because standard output contains one line, the address.
    logger: logLevel === "silent" ? false : { level: logLevel, stream: process.stderr },
    trustProxy,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: 0,
    requestTimeout: 0,
    forceCloseConnections: "idle",
    exposeHeadRoutes: false,
  });
  app.register(async (limited) => {
    const { hook } = routes;
    if (hook) {
      limited.decorateRequest("asked_ms", 0);
      limited.decorateRequest("keys", null);
      limited.setErrorHandler(hook.onError);
      await hook.install(limited, hook);
    }
    for (const [path, handler] of Object.entries(routes.limited)) limited.get(path, handler);
  });
  for (const [path, handler] of Object.entries(routes.open)) app.get(path, handler);
  app.setNotFoundHandler(routes.notFound);
  app.setErrorHandler(routes.onError);

  return app;
};
