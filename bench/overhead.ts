import autocannon from "autocannon";
import { interleavedSums, pairsFromArguments, printRatio } from "./pairs.js";
import { MeasuredServer } from "./processes.js";

/** CPU per request of our server with `none`, compared with a bare Fastify route with the same payload and flags. */
const WARM_UP_REQUESTS = 20_000;
const SLICE_REQUESTS = 10_000;
/** Alternating slices of each side in a pair, so that drift over more than a second affects both sides equally. */
const SLICES = 6;
const BODY = '{"workload":"light"}';

const load = (server: MeasuredServer, amount: number) =>
  autocannon({ url: `${server.url}/light`, connections: 50, amount });

async function sliceUs(server: MeasuredServer): Promise<number> {
  const before = await server.cpuUs();
  await load(server, SLICE_REQUESTS);
  return ((await server.cpuUs()) - before) / SLICE_REQUESTS;
}

const figures = await interleavedSums(pairsFromArguments(15), SLICES, async () => {
  const ours = await MeasuredServer.start("dist/server/index.js", { MODE: "none" }, "/light");
  const bare = await MeasuredServer.start("bench/bare-fastify.mjs", { BODY }, "/light");
  for (const server of [ours, bare]) await load(server, WARM_UP_REQUESTS);
  return {
    a: () => sliceUs(ours),
    b: () => sliceUs(bare),
    end: async () => {
      await Promise.all([ours.stop(), bare.stop()]);
    },
  };
});
await printRatio("server with `none` against bare Fastify", "µs CPU a request", figures, 1.05);
