import { randomBytes } from "node:crypto";
import { within } from "../../contract/deadline.js";
import { rounded, sum } from "../../contract/numbers.js";
import type { PrintedResult, RoleResources } from "../../contract/result.js";
import type { RunningPart } from "../../runtimes/types.js";
import { CounterWatch } from "./counters.js";
import { GENERATOR, layoutOf, type RunSettings } from "./layout.js";
import { PartFailed, type PartPlace, type RunningRole, type RunParts, withParts } from "./part-supervisor.js";

/** The first part of a calibration: enough operations to time, few enough for a slow server. */
const FIRST_REQUESTS = 1_000;
/** The shortest second part: a rate that is measured in less is too inexact for the number of operations. */
const LEAST_CALIBRATION_S = 0.3;
/** `auto` looks for a trend in our own generator's slices, which no other program has. */
const AUTO_WARMUP_S = 3;
/** A foreign program that takes longer than expected by this factor, and this time, hangs. */
const LATEST = { factor: 5, more_s: 60 } as const;
/** A program ends within a second or two: its counters are read often enough to know its rate. */
const GENERATOR_PERIOD_MS = 200;

export type ProgramRunSettings = Omit<RunSettings, "runNonce">;

export interface ProgramStart {
  program: string;
  arguments(folder: string): readonly string[];
  /** Texts of the files that it reads, by name. */
  files?: Readonly<Record<string, string>>;
  expected_s: number;
}

export interface ProgramEnd {
  arguments: readonly string[];
  output: string;
  program_s: number;
}

export type RawPrintedRun = Pick<
  PrintedResult,
  | "warmup_s"
  | "duration"
  | "program_s"
  | "operations"
  | "latency"
  | "calls"
  | "memory"
  | "store"
  | "service"
  | "resources"
  | "host_load"
  | "placement"
  | "links"
  | "notes"
  | "started_at"
  | "finished_at"
> & { program: Pick<PrintedResult["program"], "id" | "arguments" | "output"> };

export const programFacts = (
  id: string,
  { arguments: words, output }: ProgramEnd,
): RawPrintedRun["program"] => ({ id, arguments: [...words], output: output.slice(0, 10_000) });

export interface ProgramParts extends RunParts {
  settings: RunSettings;
}

/** Starts a foreign program and waits until it has ended. @throws PartFailed when it fails or hangs */
export async function runProgram(
  { settings, supervisor, startPart }: ProgramParts,
  { program, arguments: argumentsIn, files = {}, expected_s }: ProgramStart,
  onStarted: (part: RunningPart) => void = () => {},
): Promise<ProgramEnd> {
  const caps = settings.caps.generator;
  const began = performance.now();
  let words: readonly string[] = [];
  const part = await startPart({
    role: GENERATOR,
    kind: "generator",
    program,
    ...(caps ? { caps } : {}),
    workingFolder: "own",
    endsByItself: true,
    files: Object.fromEntries(Object.entries(files).map(([name, text]) => [name, { text }])),
    arguments: (allocation) => {
      words = argumentsIn(allocation.files);
      return words;
    },
    environment: () => ({}),
  });
  onStarted(part);
  const exit = await supervisor.waitFor(endInTime(part, expected_s));
  const program_s = (performance.now() - began) / 1000;
  const last = part.lastLines().at(-1);
  if (exit.code !== 0)
    throw new PartFailed(
      GENERATOR,
      `${program} ended with ${exit.code ?? exit.signal}${last ? `: ${last}` : ""}`,
    );
  return { arguments: words, output: await part.output(), program_s };
}

/** Starts the parts of one run, and stops all of them whatever happens. */
export function withProgramParts<Value>(
  request: ProgramRunSettings,
  place: PartPlace,
  use: (parts: ProgramParts) => Promise<Value>,
): Promise<Value> {
  const settings = { ...request, runNonce: randomBytes(12).toString("hex") };
  return withParts(layoutOf(settings), place, (parts) => use({ ...parts, settings }));
}

/** @throws PartFailed when the program hangs, as it does when the server refuses its connections */
function endInTime(part: RunningPart, expected_s: number): RunningPart["exited"] {
  const most_s = LATEST.factor * expected_s + LATEST.more_s;
  return within(part.exited, most_s * 1000, () => {
    const last = part.lastLines().at(-1);
    const text = `it did not end within ${Math.round(most_s)} s${last ? `: ${last}` : ""}`;
    return new PartFailed(GENERATOR, text);
  });
}

/** Seconds of warm-up. A foreign program has no slices in which `auto` could look for a trend. */
export const warmupSeconds = ({ warmupS }: Pick<RunSettings, "warmupS">): number =>
  Math.max(LEAST_CALIBRATION_S, warmupS === "auto" ? AUTO_WARMUP_S : warmupS);

/** The rate of a program that cannot run for a time, from two runs: they are also the warm-up. */
export async function calibrate(
  settings: Pick<RunSettings, "warmupS">,
  run: (requests: number, expected_s: number) => Promise<ProgramEnd>,
  perSecondIn: (output: string) => number,
): Promise<{ rate: number; warmup_s: number }> {
  const seconds = warmupSeconds(settings);
  const first = await run(FIRST_REQUESTS, 1);
  const second = await run(Math.ceil(perSecondIn(first.output) * seconds), seconds);
  return { rate: perSecondIn(second.output), warmup_s: rounded(first.program_s + second.program_s, 3) };
}

/** A program that ends by itself: its rate between first and last reading stands for the whole. */
class EndingPart {
  readonly #readings: { at_ms: number; cpu_us: number; resident_bytes: number }[] = [];
  #timer: NodeJS.Timeout | undefined;

  watch(part: RunningPart): void {
    const read = async () => {
      const found = await part.counters().catch(() => undefined);
      if (found) this.#readings.push({ at_ms: performance.now(), ...found });
    };
    void read();
    this.#timer = setInterval(read, GENERATOR_PERIOD_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  resources(source: string, loaded_s: number, operations: number): RoleResources | undefined {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)];
    if (!first || !last || last.at_ms <= first.at_ms) return undefined;
    const share = Math.max(0, last.cpu_us - first.cpu_us) / 1000 / (last.at_ms - first.at_ms);
    const resident = this.#readings.map(({ resident_bytes }) => resident_bytes);
    const cpu_us = Math.round(share * loaded_s * 1e6);
    return {
      kind: "generator",
      source: `${source}, while it ran`,
      cpu_us,
      cpu_percent: rounded(100 * share, 2),
      cpu_us_per_request: rounded(cpu_us / operations, 2),
      resident_bytes_mean: Math.round(sum(resident) / resident.length),
      resident_bytes_max: Math.max(...resident),
      samples: [],
    };
  }
}

/** What the roles used while a foreign program ran, and what could not be read. */
type ProgramUse = Pick<RawPrintedRun, "resources" | "host_load" | "notes">;

export async function runWatched(
  roles: readonly RunningRole[],
  source: string,
  run: (onStarted: (part: RunningPart) => void) => Promise<ProgramEnd>,
): Promise<{ ended: ProgramEnd; useOf(loaded_s: number, requests: number): Promise<ProgramUse> }> {
  const watch = new CounterWatch(roles);
  const generator = new EndingPart();
  await watch.start();
  let ended: ProgramEnd;
  try {
    ended = await run((part) => generator.watch(part));
  } finally {
    generator.stop();
    await watch.stop();
  }
  const { program_s } = ended;
  return {
    ended,
    async useOf(loaded_s, requests) {
      const own = generator.resources(source, loaded_s, requests);
      const resources = {
        ...(await watch.resources(source, loaded_s, requests)),
        ...(own ? { [GENERATOR]: own } : {}),
      };
      const host_load = own ? await watch.hostLoad(program_s, {}, own.cpu_us) : undefined;
      return { resources, ...(host_load ? { host_load } : {}), notes: [...watch.failures] };
    },
  };
}
