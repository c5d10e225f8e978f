import { interleaved, pairsFromArguments, printRatio } from "./pairs.js";
import { MeasuredServer, runProgram } from "./processes.js";
import { loadOnce } from "./run-load.js";

/**
 * CPU per request of our closed loop with realistic keys, compared with plain autocannon on one
 * fixed URL.
 */
const REQUESTS = 60_000;
const CONNECTIONS = 50;

const server = await MeasuredServer.start("bench/bare-fastify.mjs", { BODY: "{}" }, "/light");
try {
  const plain = async () => {
    const env = {
      URL: `${server.url}/light`,
      CONNECTIONS: String(CONNECTIONS),
      REQUESTS: String(REQUESTS),
    };
    const figures = await runProgram("bench/plain-autocannon.mjs", env);
    return (figures as { cpu_us_per_request: number }).cpu_us_per_request;
  };
  const ours = (traffic: string) => async () =>
    (await loadOnce(server, traffic, REQUESTS, CONNECTIONS)).generatorUs;
  const pairs = pairsFromArguments(15);
  const against = await interleaved(pairs, ours("realistic"), plain);
  await printRatio(
    "closed loop, realistic keys, against plain autocannon",
    "µs CPU a request",
    against,
    1.1,
  );
  for (const traffic of ["realistic", "variable"]) {
    const keys = await interleaved(pairs, ours(traffic), ours("fixed"));
    await printRatio(
      `closed loop, ${traffic} keys, against one fixed key`,
      "µs CPU a request",
      keys,
      1.1,
    );
  }
} finally {
  await server.stop();
}
