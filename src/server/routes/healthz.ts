import type { FastifyInstance } from "fastify";
import { messageOf } from "../../contract/errors.js";
import type { Health } from "../../contract/server-api.js";
import type { AppDependencies } from "../lib/app-dependencies.js";

/** `GET /healthz`: identity, run and versions of this server; 503 when the store does not answer. */
export function healthz(
  app: FastifyInstance,
  { config, client, limiters, plugins = [] }: AppDependencies,
): void {
  const identity = {
    service: "ratelimit-bench-server",
    run_nonce: config.runNonce,
    pid: process.pid,
  } as const;

  app.get("/healthz", async (_request, reply) => {
    let store: string | undefined;
    try {
      store = await client.storeVersion();
    } catch (error) {
      return reply.code(503).send({ ...identity, status: "store does not answer", error: messageOf(error) });
    }
    const health: Health = {
      ...identity,
      status: "ok",
      target: config.target,
      workloads: [{ id: "light" }, { id: "heavy", complexity: config.complexity }],
      ...(limiters ? { limits: config.limits } : {}),
      ...(limiters?.script ? { limiter_script: limiters.script } : {}),
      versions: {
        node: process.versions.node,
        fastify: app.version,
        ...(client.version ? { client: client.version } : {}),
        ...(limiters?.version ? { limiter: limiters.version } : {}),
        ...(store ? { store } : {}),
      },
      client_settings: client.settings,
      ...(plugins.length > 0 ? { plugins: [...plugins] } : {}),
    };
    return reply.send(health);
  });
}
