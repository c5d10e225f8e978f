import { execa } from "execa";
import { untilEnded } from "../processes.js";
import type { RuntimeOptions } from "../runtime-types.js";

/**
 * A command that builds images like `docker build`, and the environment in which it finds the
 * engine.
 */
export type Builder = { binary: string; environment: Readonly<Record<string, string>> };

/**
 * Builds one image from a folder. The signal ends the builder and all processes that it started.
 */
export async function build(
  { binary, environment }: Builder,
  parameters: readonly string[],
  folder: string,
  { signal, hold }: Pick<RuntimeOptions, "signal" | "hold">,
): Promise<{ failed: boolean; all?: string | undefined }> {
  signal.throwIfAborted();
  const building = execa(binary, ["build", ...parameters, "."], {
    cwd: folder,
    env: environment,
    stdin: "ignore",
    detached: true,
    all: true,
    reject: false,
  });
  await untilEnded(building, signal, hold);
  return building;
}

/** The line of a build log that names the error. */
export const lastLine = (text: string | undefined): string => {
  const lines = (text ?? "").split("\n").filter((line) => line.trim() !== "");
  return lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1) ?? "it printed nothing";
};
