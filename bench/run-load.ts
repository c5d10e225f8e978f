import { type MeasuredServer, runProgram } from "./processes.js";

interface Figures {
  counts: { sent: number };
  warmup: { lead_in: { requests: number } };
  generators: { cpu_us: number }[];
}

export interface LoadFigures {
  /** CPU time of the server per request between the drained moments: in lead-in and window. */
  serverUs: number;
  /** CPU time of the load generator per request in lead-in and window. */
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
  const sent = result.counts.sent + result.warmup.lead_in.requests;
  if (opened === undefined || closed === undefined)
    throw new Error("the generator reported no drained moment");
  return {
    serverUs: ((await closed) - (await opened)) / sent,
    generatorUs: (result.generators[0]?.cpu_us ?? Number.NaN) / sent,
  };
}
