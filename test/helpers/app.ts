import type { LightMyRequestResponse } from "fastify";
import { type Usage, usageSchema } from "../../src/contract/server-api.js";
import { buildApp } from "../../src/server/app.js";
import { readConfig } from "../../src/server/config/index.js";
import type { AppDependencies } from "../../src/server/lib/app-dependencies.js";
import { asRequestLimiter } from "../../src/targets/request-limiter.js";
import type { Decision, Limiter } from "../../src/targets/types.js";
import { targetOf } from "./target.js";

export const ALLOWED: Decision = { outcome: "allowed" };
export const FAILED: Decision = { outcome: "failed", error: new Error("the store hung up") };
export const limited = (msBeforeNext: number, limit = 10): Decision => ({
  outcome: "limited",
  limit,
  remaining: 0,
  msBeforeNext,
});

/** Notes the keys that it is asked about and answers what the test says. */
class FakeLimiter implements Limiter {
  readonly keys: string[] = [];
  answer: (key: string) => Decision | Promise<Decision> = () => ALLOWED;

  async consume(key: string): Promise<Decision> {
    this.keys.push(key);
    return this.answer(key);
  }
}

/** The app over two fake limiters, or over none for the mode `none`; requests are injected. */
export function fakeApp(
  mode = "memory",
  client: Partial<AppDependencies["client"]> = {},
  server: Partial<AppDependencies["spec"]["server"]> = {},
) {
  const standard = new FakeLimiter();
  const exhausted = new FakeLimiter();
  const { spec } = readConfig({ MODE: mode, RUN_NONCE: "nonce-1", COMPUTATION_COMPLEXITY: "2" });
  const app = buildApp({
    spec: { ...spec, server: { ...spec.server, ...server } },
    target: targetOf(spec.target.text),
    client: { settings: { protocol: "RESP2" }, storeVersion: async () => undefined, ...client },
    limiter: mode === "none" ? undefined : asRequestLimiter({ standard, exhausted, version: "11.4.0" }),
  });
  const get = (url: string): Promise<LightMyRequestResponse> =>
    app.inject({ url, remoteAddress: "10.1.2.3" });
  const usage = async (): Promise<Usage> => usageSchema.parse((await get("/usage")).json());
  return { app, get, usage, standard, exhausted };
}
