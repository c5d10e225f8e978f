import type { PrintedResult } from "../../contract/result.js";
import type { PrintedFigures } from "../../targets/load-programs/index.js";
import type { LoadProgram, PrintedLoad } from "../../targets/load-programs/load-program.js";
import type { ProgramStart } from "./run-program.js";

/** What a load program prints. One that counts its own calls says how many they were. */
export type ProgramFigures = PrintedFigures & Partial<PrintedLoad>;

/** What store and service tell of a load: `calls` are decisions before and after it. */
export type ProgramEvidence = Pick<PrintedResult, "calls" | "memory" | "store" | "service">;

/** The load of one run that a load program makes, and what is read before and after it. */
export interface ProgramLoad {
  readonly program: string;
  readonly runsFor: LoadProgram["runsFor"];
  /** Operations that the store may count although the program does not. */
  readonly moreAtMost?: number;
  /** @param amount operations, or seconds where it runs for a time */
  command(amount: number): Pick<ProgramStart, "arguments" | "files">;
  /** @throws Error that quotes the line which cannot be read */
  figuresIn(output: string): ProgramFigures;
  readBefore(): Promise<void>;
  readAfter(): Promise<void>;
  /** After both readings. @throws PartFailed where the figures contradict them */
  evidence(figures: ProgramFigures): ProgramEvidence;
}

/** All that is measured in a run whose load comes from a load program. */
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
