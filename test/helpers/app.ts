import { get as httpGet, type IncomingHttpHeaders } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { type Usage, usageSchema } from "../../src/contract/server-api.js";
import { buildApp } from "../../src/server/app.js";
import { readConfig } from "../../src/server/config/index.js";
import type { LoadPackage } from "../../src/server/frameworks/framework.js";
import type { AppDependencies } from "../../src/server/lib/app-dependencies.js";
import { ownLibraries } from "../../src/targets/libraries.js";
import { asRequestLimiter } from "../../src/targets/request-limiter.js";
import type { Decision, Limiter } from "../../src/targets/target-types.js";
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

/** An answer of the server. */
interface Answer {
  statusCode: number;
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: each test knows what it asked for
  json(): any;
}

/** The address that requests come from. */
export const CALLER = "127.1.2.3";

/** Lets the app listen until the test ends. @returns what sends a request to it */
export function served(dependencies: AppDependencies, load: LoadPackage = ownLibraries.fromFolder) {
  const starting = buildApp(dependencies, load).then(async (app) => {
    onTestFinished(async () => void (await app.close()));
    return app.listen({ host: "127.0.0.1", port: 0 });
  });
  const get = async (path: string): Promise<Answer> => {
    const url = `${await starting}${path}`;
    return new Promise((resolve, reject) => {
      httpGet(url, { agent: false, localAddress: CALLER }, async (message) => {
        const { statusCode = 0, headers } = message;
        const body = await text(message);
        resolve({ statusCode, headers, body, json: () => JSON.parse(body) });
      }).on("error", reject);
    });
  };
  const usage = async (): Promise<Usage> => usageSchema.parse((await get("/usage")).json());
  return { get, usage };
}

/**
 * What every app of a framework is tested with: over two fake limiters, or over none for the mode
 * `none`.
 */
export const fakeAppOn =
  (framework: string, load?: LoadPackage) =>
  (
    mode = "memory",
    client: Partial<AppDependencies["client"]> = {},
    server: Partial<AppDependencies["spec"]["server"]> = {},
  ) => {
    const standard = new FakeLimiter();
    const exhausted = new FakeLimiter();
    const MODE = framework === "fastify" ? mode : `${mode}+${framework}`;
    const { spec } = readConfig({ MODE, RUN_NONCE: "nonce-1", COMPUTATION_COMPLEXITY: "2" });
    const app = served(
      {
        spec: { ...spec, server: { ...spec.server, ...server } },
        target: targetOf(spec.target.text),
        client: { settings: { protocol: "RESP2" }, storeVersion: async () => undefined, ...client },
        limiter:
          mode === "none"
            ? undefined
            : asRequestLimiter({ standard, exhausted, version: "11.4.0" }),
        framework: { version: "5.0.0" },
      },
      load,
    );
    return { ...app, standard, exhausted };
  };
