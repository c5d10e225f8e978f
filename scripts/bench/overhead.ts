import { loadOnce } from "./load.js";
import { interleaved, pairsAsked, printRatio } from "./pairs.js";
import { MeasuredServer } from "./processes.js";

/** CPU per request of our server with `none` against a bare Fastify route with the same payload and Node flags. */
const REQUESTS = 40_000;
const BODY = '{"workload":"light"}';

async function serverCost(script: string, env: Record<string, string>): Promise<number> {
  const server = await MeasuredServer.start(script, env, "/light");
  try {
    return (await loadOnce(server, "fixed", REQUESTS)).serverUs;
  } finally {
    await server.stop();
  }
}

const figures = await interleaved(
  pairsAsked(15),
  () => serverCost("dist/server/index.js", { MODE: "none" }),
  () => serverCost("scripts/bench/bare-fastify.mjs", { BODY }),
);
await printRatio("server with `none` against bare Fastify", "µs CPU a request", figures, 1.05);
