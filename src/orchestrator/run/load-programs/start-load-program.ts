import { randomBytes } from "node:crypto";
import { within } from "../../../kit/deadline.js";
import { definedOnly } from "../../../kit/defined-only.js";
import type { RunningPart } from "../../../runtimes/runtime-types.js";
import { GENERATOR, layoutOf } from "../layout.js";
import { PartFailed, type PartPlace, type RunParts, withParts } from "../part-supervisor.js";
import type { RequestedRun, RunSettings } from "../run-settings.js";

/** The time after which a load program hangs, as a factor of the expected time and more seconds. */
const LATEST = { factor: 5, more_s: 60 } as const;

export interface ProgramStart {
  program: string;
  arguments(folder: string): readonly string[];
  /** The texts of the files that the program reads, by name. */
  files?: Readonly<Record<string, string>>;
  expected_s: number;
}

export interface ProgramEnd {
  arguments: readonly string[];
  output: string;
  program_s: number;
}

export interface ProgramParts extends RunParts {
  settings: RunSettings;
}

/** Starts the parts of one run, and stops all of them whatever happens. */
export function withProgramParts<Value>(
  request: RequestedRun,
  place: PartPlace,
  use: (parts: ProgramParts) => Promise<Value>,
): Promise<Value> {
  const settings = { ...request, runNonce: randomBytes(12).toString("hex") };
  return withParts(layoutOf(settings), place, (parts) => use({ ...parts, settings }));
}

/** Starts a load program and waits until it has ended. @throws PartFailed where it fails or hangs */
export async function runProgram(
  { settings, supervisor, startPart }: ProgramParts,
  { program, arguments: argumentsIn, files = {}, expected_s }: ProgramStart,
  onStarted: (part: RunningPart) => void = () => {},
): Promise<ProgramEnd> {
  const began_ms = performance.now();
  const textFiles = Object.entries(files).map(([name, text]) => [name, { text }]);
  let programArguments: readonly string[] = [];
  const part = await startPart({
    role: GENERATOR,
    kind: "generator",
    program,
    ...definedOnly({ caps: settings.caps.generator }),
    workingFolder: "own",
    endsByItself: true,
    files: Object.fromEntries(textFiles),
    arguments: (allocation) => {
      programArguments = argumentsIn(allocation.files);
      return programArguments;
    },
    environment: () => ({}),
  });
  onStarted(part);

  const { code, signal } = await supervisor.waitFor(endInTime(part, expected_s));
  const program_s = (performance.now() - began_ms) / 1000;
  if (code !== 0)
    throw new PartFailed(GENERATOR, `${program} ended with ${code ?? signal}${lastLineText(part)}`);
  return { arguments: programArguments, output: await part.output(), program_s };
}

/** @throws PartFailed where the program hangs, e.g. because the server refuses its connections */
function endInTime(part: RunningPart, expected_s: number): RunningPart["exited"] {
  const most_s = LATEST.factor * expected_s + LATEST.more_s;
  return within(part.exited, most_s * 1000, () => {
    const text = `it did not end within ${Math.round(most_s)} s${lastLineText(part)}`;
    return new PartFailed(GENERATOR, text);
  });
}

function lastLineText(part: RunningPart): string {
  const lastLine = part.lastLines().at(-1);
  return lastLine ? `: ${lastLine}` : "";
}
