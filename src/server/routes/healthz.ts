import { messageOf } from "../../contract/errors.js";
import type { Health } from "../../contract/server-api.js";
import { USUAL_FRAMEWORK } from "../../targets/frameworks.js";
import type { Handler } from "../frameworks/framework.js";
import type { AppDependencies } from "../lib/app-dependencies.js";

/** `GET /healthz`: identity, run and versions of this server; 503 when the store does not answer. */
export function healthz({
  spec,
  target,
  client,
  limiter,
  framework,
  plugins = [],
}: AppDependencies): Handler {
  const identity = {
    service: "ratelimit-bench-server",
    run_nonce: spec.run_nonce,
    pid: process.pid,
  } as const;

  return async (_request, reply) => {
    let store: string | undefined;
    try {
      store = await client.storeVersion();
    } catch (error) {
      return reply
        .status(503)
        .send({ ...identity, status: "store does not answer", error: messageOf(error) });
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
        [target.framework ?? USUAL_FRAMEWORK]: framework.version,
        ...(client.version ? { client: client.version } : {}),
        ...(limiter?.version ? { limiter: limiter.version } : {}),
        ...(store ? { store } : {}),
      },
      client_settings: client.settings,
      ...(plugins.length > 0 ? { plugins: [...plugins] } : {}),
    };
    return reply.send(health);
  };
}
