import { join } from "node:path";
import { z } from "zod";
import type { Node } from "../../kit/env.js";
import { SERVICE_CONNECTIONS } from "../clients/client-settings.js";
import { protoText } from "../clients/grpc-method.js";
import type { NativeProtocol } from "../target-types.js";
import { type PrintedFigures, parseRespLoadCsv, respLoadArguments } from "./index.js";

export interface LoadWork {
  protocol: NativeProtocol;
  /** Where the service, or the store that decides, listens. */
  place: Node;
  /**
   * What it sends, one after the other, round and round. A program that draws its own keys gets one
   * call, with `RANDOM_KEY`.
   */
  calls: readonly object[];
  keys: number;
  connections: number;
}

export interface PrintedLoad extends PrintedFigures {
  calls?: number;
  /** Answers with an HTTP status of 400 or more: denials of a service that uses 429, and errors. */
  refused: number;
  /** Calls without a decision, in words, e.g. `3 time-outs`; empty without any. */
  failures: string;
}

/** A program without Node that makes the calls of a client: one entry in this list. */
export interface LoadProgram {
  id: string;
  program: string;
  summary: string;
  protocol: NativeProtocol["kind"];
  /** The store whose image contains it. */
  imageOf?: string;
  /** Its version is read from its file, because what it prints depends on how it was built. */
  withoutVersionFlag?: true;
  /**
   * Whether it goes through a list of calls, or draws from that many keys, each as likely as any
   * other.
   */
  sends: "a list" | "even draws";
  runsFor: "time" | "calls";
  /** Commands with which it begins, which a server may count. */
  opensWith: number;
  files(work: LoadWork): Readonly<Record<string, string>>;
  /** @param amount seconds, or calls, see `runsFor` @param folder that holds its files */
  arguments(work: LoadWork, amount: number, folder: string): string[];
  /** @throws Error that quotes the line which is not what it should be */
  figuresIn(output: string): PrintedLoad;
}

export const RANDOM_KEY = "__rand_int__";

/**
 * A call without an answer is given up after this time, as by our own clients of the same services.
 */
const CALL_TIMEOUT_S = 10;

const CALLS = "calls";
const LUA = "calls.lua";
const PROTO = "calls.proto";

/**
 * A script of wrk: it sends the lines of a file as bodies, and prints its figures in µs as one line
 * of JSON.
 */
const LUA_TEXT = `local calls, at = {}, 0

function init(arguments)
  local headers = { ["Content-Type"] = "application/json" }
  for body in io.lines(arguments[#arguments]) do
    calls[#calls + 1] = wrk.format("POST", nil, headers, body)
  end
end

function request()
  at = at % #calls + 1
  return calls[at]
end

function done(summary, latency)
  local errors = summary.errors
  local function percentile(share) return latency:percentile(share) end
  io.write(string.format(
    '{"calls":%.0f,"duration":%.0f,"refused":%.0f,"connect":%.0f,"read":%.0f,"write":%.0f,"timeout":%.0f,'
      .. '"average":%.1f,"min":%.0f,"p50":%.0f,"p95":%.0f,"p99":%.0f,"max":%.0f}\\n',
    summary.requests, summary.duration, errors.status, errors.connect, errors.read, errors.write, errors.timeout,
    latency.mean, latency.min, percentile(50), percentile(95), percentile(99), latency.max))
end
`;

const amount = z.number().min(0);
const wrkSchema = z.object({
  calls: amount,
  duration: z.number().positive(),
  refused: amount,
  connect: amount,
  read: amount,
  write: amount,
  timeout: amount,
  average: amount,
  min: amount,
  p50: amount,
  p95: amount,
  p99: amount,
  max: amount,
});

const quoted = (text: string): string => JSON.stringify(text.slice(0, 200));

/** @throws Error unless the text is JSON of that form */
function jsonOf<Value>(text: string, schema: z.ZodType<Value>): Value {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error(
      text.trim() === "" ? "it printed nothing" : `it printed no figures: ${quoted(text)}`,
    );
  }
  const found = schema.safeParse(parsed);
  if (found.success) return found.data;
  throw new Error(
    `it printed no figures: ${found.error.issues[0]?.path.join(".")} in ${quoted(text)}`,
  );
}

type Latency = PrintedFigures["latency"];

const inMs = (latency: Latency, perMs: number): Latency =>
  Object.fromEntries(
    Object.entries(latency).map(([name, value]) => [name, value / perMs]),
  ) as unknown as Latency;

const addressOf = ({ place, protocol }: LoadWork): string => {
  const named = protocol.kind === "resp" || protocol.port === undefined ? undefined : protocol.port;
  const port = named === undefined ? place.port : place.ports?.[named];
  if (port === undefined) throw new Error(`the service has no port ${named}`);
  return `${place.host}:${port}`;
};

const wrk: LoadProgram = {
  id: "wrk",
  program: "wrk",
  summary: "wrk makes the calls over HTTP, instead of Node: a control",
  protocol: "http",
  sends: "a list",
  runsFor: "time",
  opensWith: 0,
  files: ({ calls }) => ({
    [CALLS]: `${calls.map((call) => JSON.stringify(call)).join("\n")}\n`,
    [LUA]: LUA_TEXT,
  }),
  arguments(work, seconds, folder) {
    if (work.protocol.kind !== "http") throw new Error("wrk speaks HTTP");
    return [
      ...["-t", "1", "-c", String(work.connections), "-d", `${Math.max(1, Math.round(seconds))}s`],
      ...["--timeout", `${CALL_TIMEOUT_S}s`, "-s", join(folder, LUA)],
      ...[`http://${addressOf(work)}${work.protocol.path}`, "--", join(folder, CALLS)],
    ];
  },
  figuresIn(output) {
    const last = output.trim().split("\n").at(-1) ?? "";
    const { calls, duration, refused, connect, read, write, timeout, ...latency } = jsonOf(
      last,
      wrkSchema,
    );
    const counts = { "failed connections": connect, "read errors": read, "write errors": write };
    const failures = Object.entries({ ...counts, "time-outs": timeout }).flatMap(([what, count]) =>
      count > 0 ? [`${count} ${what}`] : [],
    );
    return {
      calls,
      per_second: (calls * 1e6) / duration,
      refused,
      failures: failures.join(", "),
      latency: inMs(latency, 1000),
    };
  },
};

/** Durations in nanoseconds (https://ghz.sh/docs/output). */
const ghzSchema = z.object({
  count: amount,
  total: z.number().positive(),
  average: amount,
  fastest: amount,
  slowest: amount,
  statusCodeDistribution: z.record(z.string(), amount),
  latencyDistribution: z.array(z.object({ percentage: amount, latency: amount })),
});

const ghz: LoadProgram = {
  id: "ghz",
  program: "ghz",
  summary: "ghz makes the calls over gRPC, instead of Node: a control",
  protocol: "grpc",
  withoutVersionFlag: true,
  sends: "a list",
  runsFor: "time",
  opensWith: 0,
  files: ({ calls, protocol }) => {
    if (protocol.kind !== "grpc") throw new Error("ghz speaks gRPC");
    return { [CALLS]: JSON.stringify(calls), [PROTO]: protoText(protocol.method) };
  },
  arguments(work, seconds, folder) {
    if (work.protocol.kind !== "grpc") throw new Error("ghz speaks gRPC");
    const { package: path, service, method } = work.protocol.method;
    return [
      ...["--insecure", "--proto", join(folder, PROTO), "--call", `${path}.${service}.${method}`],
      ...["--concurrency", String(work.connections)],
      ...["--connections", String(Math.min(SERVICE_CONNECTIONS, work.connections))],
      // Without a wait the calls under way at the end would count as errors.
      ...[
        "--duration",
        `${seconds}s`,
        "--duration-stop",
        "wait",
        "--timeout",
        `${CALL_TIMEOUT_S}s`,
      ],
      ...[
        "--data-file",
        join(folder, CALLS),
        "--disable-template-data",
        "--disable-template-functions",
      ],
      ...["--format", "json", addressOf(work)],
    ];
  },
  figuresIn(output) {
    const found = jsonOf(output, ghzSchema);
    const failures = Object.entries(found.statusCodeDistribution).flatMap(([code, count]) =>
      code === "OK" || count === 0 ? [] : [`${count} with the status ${code}`],
    );
    const percentile = (share: number): number => {
      const latency = found.latencyDistribution.find(
        ({ percentage }) => percentage === share,
      )?.latency;
      if (latency === undefined) throw new Error(`it printed no p${share}: ${quoted(output)}`);
      return latency;
    };
    const { average, fastest: min, slowest: max } = found;
    return {
      calls: found.count,
      per_second: (found.count * 1e9) / found.total,
      refused: 0,
      failures: failures.join(", "),
      latency: inMs(
        { average, min, p50: percentile(50), p95: percentile(95), p99: percentile(99), max },
        1e6,
      ),
    };
  },
};

/** valkey-benchmark and redis-benchmark, which are also the load generators of the store layer. */
const overResp = (store: "valkey" | "redis"): LoadProgram => ({
  id: `${store}-benchmark`,
  program: `${store}-benchmark`,
  summary: `${store}-benchmark sends the commands over RESP, instead of Node: a control`,
  protocol: "resp",
  imageOf: store,
  sends: "even draws",
  runsFor: "calls",
  // It asks for two settings of the server, which may count the question as a decision.
  opensWith: 2,
  files: () => ({}),
  arguments({ protocol, place, calls: [call], keys, connections }, requests) {
    if (protocol.kind !== "resp" || !call) throw new Error(`${store}-benchmark speaks RESP`);
    return respLoadArguments(place, {
      test: { command: protocol.command(call) },
      connections,
      requests: Math.max(requests, connections),
      keys,
    });
  },
  // It ends with an error at the first answer that is one.
  figuresIn: (output) => ({ ...parseRespLoadCsv(output), refused: 0, failures: "" }),
});

export const loadPrograms: readonly LoadProgram[] = [
  wrk,
  ghz,
  overResp("valkey"),
  overResp("redis"),
];

/** @throws Error for an id that is in no list: a target names it only through an option */
export function findLoadProgram(id: string): LoadProgram {
  const found = loadPrograms.find((program) => program.id === id);
  if (found) return found;
  throw new Error(`there is no load program ${id}`);
}
