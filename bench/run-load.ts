import { type MeasuredServer, runProgram } from "./processes.js";

interface Figures {
  counts: { allowed: number; limited: number };
  generators: { cpu_us: number }[];
}

export interface LoadFigures {
  /** CPU time of the server per answered request in the window, read at the drained moments. */
  serverUs: number;
  /** CPU time of the load generator per answered request. */
  generatorUs: number;
}

/** One run of our load generator, with the CPU time of server and generator per request. */
export async function loadOnce(
  server: MeasuredServer,
  traffic: string,
  requests: number,
  connections = 50,
): Promise<LoadFigures> {
  let opened: Promise<number> | undefined;
  let closed: Promise<number> | undefined;
  const result = (await runProgram(
    "dist/benchmark/index.js",
    {
      TARGET_URL: server.url,
      TRAFFIC: traffic,
      REQUESTS: String(requests),
      CONNECTIONS: String(connections),
      WARMUP: "1",
      PROGRESS: "json",
    },
    (line) => {
      if (line.includes('"drained"')) opened = server.cpuUs();
      if (line.includes('"finished"')) closed = server.cpuUs();
    },
  )) as Figures;
  const answered = result.counts.allowed + result.counts.limited;
  if (opened === undefined || closed === undefined)
    throw new Error("the generator reported no drained moment");
  return {
    serverUs: ((await closed) - (await opened)) / answered,
    generatorUs: (result.generators[0]?.cpu_us ?? Number.NaN) / answered,
  };
}
