import type { PrintedResult } from "../../../contract/result.js";
import type { PrintedFigures } from "../../../targets/load-programs/index.js";
import type { LoadProgram, PrintedLoad } from "../../../targets/load-programs/load-program.js";
import type { ProgramStart } from "./start-load-program.js";

/** The figures that a load program prints, with the number of its calls where it counts them. */
export type ProgramFigures = PrintedFigures & Partial<PrintedLoad>;

/** The evidence of store and service on a load, where `calls` are decisions before and after it. */
export type ProgramEvidence = Pick<PrintedResult, "calls" | "memory" | "store" | "service">;

/** The load of one run that a load program makes, with the readings before and after it. */
export interface ProgramLoad {
  readonly program: string;
  readonly runsFor: LoadProgram["runsFor"];
  /** The most operations that the store may count although the program does not. */
  readonly moreAtMost?: number;
  /** @param amount the operations, or the seconds where the program runs for a time */
  command(amount: number): Pick<ProgramStart, "arguments" | "files">;
  /** @throws Error that quotes the line which cannot be read */
  figuresIn(output: string): ProgramFigures;
  readBefore(): Promise<void>;
  readAfter(): Promise<void>;
  /** The evidence after both readings. @throws PartFailed where the figures contradict them */
  evidence(figures: ProgramFigures): ProgramEvidence;
}

/** The evidence of a run whose load comes from a load program. */
export interface RawPrintedRun
  extends ProgramEvidence,
    Pick<
      PrintedResult,
      | "warmup_s"
      | "duration"
      | "program_s"
      | "operations"
      | "latency"
      | "resources"
      | "host_load"
      | "own_throttling"
      | "clock_change"
      | "placement"
      | "links"
      | "notes"
      | "started_at"
      | "finished_at"
    > {
  program: Pick<PrintedResult["program"], "id" | "arguments" | "output">;
}
