import { spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type GroupOutput, groupOutputSchema } from "../../src/contract/generator-output.js";
import { type Progress, progressSchema, READ_LINE } from "../../src/contract/progress.js";
import type { MeasuredResult } from "../../src/contract/result.js";
import { encodeRunSpec, type GroupSpec } from "../../src/contract/run-spec.js";
import { ROOT } from "./programs.js";

/** A phase at which the generator waits, with the run whose turn it is about, if there is one. */
export type WaitingPhase = { phase: string; run?: number | undefined };

interface Listener {
  /** Is called at each drained moment, before the line that lets the generator go on. */
  onDrained?(phase: WaitingPhase, write: (line: string) => void): Promise<void> | void;
  /** Is called for each other line of progress. */
  onProgress?(progress: Progress, write: (line: string) => void): void;
}

export interface GroupEnd {
  code: number | null;
  stderr: string;
  /** The drained moments in their order. */
  phases: WaitingPhase[];
  /** The runs of all lines about a second. */
  seconds: (number | undefined)[];
  outputs: GroupOutput;
}

/** A generator of a group, which the test lets go on as the orchestrator does. */
export async function generateGroup(
  spec: GroupSpec,
  { onDrained, onProgress }: Listener = {},
): Promise<GroupEnd> {
  const child = spawn(process.execPath, [join(ROOT, "dist/benchmark/index.js")], {
    env: { PATH: process.env.PATH, ...encodeRunSpec(spec) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const write = (line: string): void => void child.stdin.write(`${line}\n`);
  const phases: WaitingPhase[] = [];
  const seconds: (number | undefined)[] = [];
  let stderr = "";
  createInterface({ input: child.stderr }).on("line", async (line) => {
    if (!line.startsWith("{")) {
      stderr += `${line}\n`;
      return;
    }
    const progress = progressSchema.parse(JSON.parse(line));
    if (progress.event === "second") seconds.push(progress.run);
    if (progress.event !== "phase" || ["warmup", "measure"].includes(progress.phase)) {
      onProgress?.(progress, write);
      return;
    }
    const { phase, run } = progress;
    phases.push({ phase, run });
    await onDrained?.({ phase, run }, write);
    write(READ_LINE);
  });
  let text = "";
  child.stdout.on("data", (bytes) => {
    text += bytes;
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const outputs = code === 0 ? groupOutputSchema.parse(JSON.parse(text)) : [];
  return { code, stderr, phases, seconds, outputs };
}

/** The result of a run that must have one, without the counts by request. */
export function resultOf(output: GroupOutput[number] | undefined): MeasuredResult {
  if (!output) throw new Error("there is no output");
  if ("failed" in output) throw new Error(output.failed);
  const { request_counts: _counts, share: _share, ...result } = output;
  return result;
}
