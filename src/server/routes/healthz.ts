import type { FastifyInstance } from "fastify";
import { messageOf } from "../../contract/errors.js";
import type { Health } from "../../contract/server-api.js";
import type { AppDependencies } from "../lib/app-dependencies.js";

/** `GET /healthz`: identity, run and versions of this server; 503 when the store does not answer. */
export function healthz(
  app: FastifyInstance,
  { spec, target, client, limiter, plugins = [] }: AppDependencies,
): void {
  const identity = {
    service: "ratelimit-bench-server",
    run_nonce: spec.run_nonce,
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
      target,
      workloads: [{ id: "light" }, { id: "heavy", complexity: spec.server.complexity }],
      ...(limiter ? { limits: spec.limits } : {}),
      ...(limiter?.script ? { limiter_script: limiter.script } : {}),
      versions: {
        node: process.versions.node,
        fastify: app.version,
        ...(client.version ? { client: client.version } : {}),
        ...(limiter?.version ? { limiter: limiter.version } : {}),
        ...(store ? { store } : {}),
      },
      client_settings: client.settings,
      ...(plugins.length > 0 ? { plugins: [...plugins] } : {}),
    };
    return reply.send(health);
  });
}
