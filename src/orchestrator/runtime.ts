import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { usageError } from "../contract/errors.js";
import type { Discovery } from "../contract/store.js";
import { runtimes } from "../runtimes/index.js";
import type { Runtime } from "../runtimes/types.js";
import { nearest } from "../targets/nearest.js";
import { findStore } from "../targets/resolve.js";
import type { Request } from "./request.js";

export interface OpenedRuntime {
  runtime: Runtime;
  /** Which one was taken, and why. */
  choice: string;
  workFolder: string;
}

/** Opens the runtime that was asked for. @throws usageError when there is no such runtime */
export async function openRuntime(request: Request, packageFolder: string): Promise<OpenedRuntime> {
  const ids = runtimes.map(({ id }) => id);
  const wanted = request.runtime === "auto" ? runtimes[0] : runtimes.find(({ id }) => id === request.runtime);
  if (!wanted) {
    throw usageError(
      `there is no runtime ${JSON.stringify(request.runtime.slice(0, 60))}${nearest(request.runtime, ["auto", ...ids])}`,
    );
  }
  const workFolder = await mkdtemp(join(tmpdir(), "ratelimit-bench-"));
  let runtime: Runtime;
  try {
    runtime = await wanted.open({ packageFolder, workFolder, programPaths: request.programPaths });
  } catch (error) {
    await rm(workFolder, { recursive: true, force: true });
    throw error;
  }
  const why = request.runtime === "auto" ? "the only one so far" : "as asked";
  return { runtime, choice: `runtime: ${wanted.id} (${why})`, workFolder };
}

/** Whether there is such a store: the one that already runs, or one that the runtime can start; or why not. */
export function hasStore(runtime: Runtime, external: Discovery | undefined, store: string): boolean | string {
  const { program } = findStore(store);
  if (program === undefined) return true;
  if (!external) return runtime.program(program) !== undefined;
  return external.store === store || `the store that already runs is ${external.store}`;
}
