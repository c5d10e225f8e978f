import type { NodePlace } from "../../kit/env.js";

/** A load program that makes the load of the store layer: one entry in this list. */
interface StoreLayerProgram {
  id: string;
  program: string;
  /** The store whose image contains it. */
  imageOf: string;
}

/** The one that is preferred comes first: one program drives all stores of a campaign. */
export const storeLayerPrograms: readonly StoreLayerProgram[] = [
  { id: "valkey-benchmark", program: "valkey-benchmark", imageOf: "valkey" },
  { id: "redis-benchmark", program: "redis-benchmark", imageOf: "redis" },
];

/** What one start of such a program does. */
interface RespLoad {
  test: { own: string } | { command: readonly string[] };
  connections: number;
  requests: number;
  keys: number;
  payloadBytes?: number | undefined;
}

/**
 * The arguments of a load program of RESP. It uses one thread, no pipelining and random
 * keys, and both programs share these options.
 */
export function respLoadArguments(
  { host, port }: NodePlace,
  { test, connections, requests, keys, payloadBytes }: RespLoad,
): string[] {
  const payload = payloadBytes === undefined ? [] : ["-d", String(payloadBytes)];
  const commands = "own" in test ? ["-t", test.own] : test.command;
  return [
    "-h",
    host,
    "-p",
    String(port),
    "-c",
    String(connections),
    "-n",
    String(requests),
    "-r",
    String(keys),
    "-P",
    "1",
    "--csv",
    ...payload,
    ...commands,
  ];
}

/** The figures that a load program printed, in milliseconds and operations per second. */
export interface PrintedFigures {
  per_second: number;
  latency: { average: number; min: number; p50: number; p95: number; p99: number; max: number };
}

/** The columns after the test's name, which may itself hold commas and quotation marks. */
const COLUMNS = [
  "rps",
  "avg_latency_ms",
  "min_latency_ms",
  "p50_latency_ms",
  "p95_latency_ms",
  "p99_latency_ms",
  "max_latency_ms",
];
const HEADER = ["test", ...COLUMNS].map((name) => `"${name}"`).join(",");
const FIGURES = /((?:,"\d+(?:\.\d+)?"){7})$/;

/**
 * Reads the CSV of `--csv` (since 6.2).
 * @throws Error that quotes the line which is wrong
 */
export function parseRespLoadCsv(printed: string): PrintedFigures {
  const lines = printed
    .split(/[\r\n]+/)
    .map((line) => line.trim())
    .filter(Boolean);
  if (lines.length === 0) throw new Error("it printed nothing");

  const start = lines.indexOf(HEADER);
  if (start < 0)
    throw new Error(
      `its output has no header ${HEADER.slice(0, 40)}…: ${quotedLine(lines.at(-1))}`,
    );

  const lastLine = lines.slice(start + 1).at(-1);
  if (lastLine === undefined) throw new Error("it printed a header and no figures");

  const numbers = FIGURES.exec(lastLine)?.[1]
    ?.match(/\d+(?:\.\d+)?/g)
    ?.map(Number);
  const [per_second = 0, average = 0, min = 0, p50 = 0, p95 = 0, p99 = 0, max = 0] = numbers ?? [];
  if (!numbers || per_second <= 0)
    throw new Error(`it printed no figures: ${quotedLine(lastLine)}`);
  return { per_second, latency: { average, min, p50, p95, p99, max } };
}

const quotedLine = (line = ""): string => JSON.stringify(line.slice(0, 200));
