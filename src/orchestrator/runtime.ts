import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BenchError, EXIT, messageOf, usageError } from "../contract/errors.js";
import type { Discovery } from "../contract/store.js";
import { runtimes } from "../runtimes/index.js";
import type { PluginPlace, Runtime, RuntimeDescription } from "../runtimes/types.js";
import { nearest } from "../targets/nearest.js";
import { findStore } from "../targets/resolve.js";
import type { Request } from "./request.js";
import { isAlive, thisOwner } from "./state.js";

export interface OpenedRuntime {
  runtime: Runtime;
  /** Which one was taken, and why. */
  choice: string;
  workFolder: string;
}

/**
 * Opens the runtime that was asked for; `auto` takes the first that works.
 * @throws usageError when there is no such runtime; environmentError when it does not work here
 */
export async function openRuntime(
  request: Request,
  packageFolder: string,
  campaign: string,
  say: (text: string) => void,
  signal: AbortSignal,
  plugins: readonly PluginPlace[] = [],
): Promise<OpenedRuntime> {
  const workFolder = await mkdtemp(join(tmpdir(), "ratelimit-bench-"));
  const open = async (description: RuntimeDescription): Promise<Runtime> => {
    for (const line of await description.sweep(isAlive)) say(line);
    return description.open({
      packageFolder,
      workFolder,
      programPaths: request.programPaths,
      plugins,
      owner: await thisOwner(campaign),
      campaign,
      say,
      signal,
    });
  };
  try {
    const { runtime, choice } =
      request.runtime === "auto" ? await firstThatWorks(request, open) : await asAsked(request, open);
    return { runtime, choice: `runtime: ${runtime.id} (${choice})`, workFolder };
  } catch (error) {
    await rm(workFolder, { recursive: true, force: true });
    throw error;
  }
}

type Open = (description: RuntimeDescription) => Promise<Runtime>;
interface Chosen {
  runtime: Runtime;
  choice: string;
}

async function asAsked(request: Request, open: Open): Promise<Chosen> {
  const description = runtimes.find(({ id }) => id === request.runtime);
  if (description) return { runtime: await open(description), choice: "as asked" };
  const near = nearest(request.runtime, ["auto", ...runtimes.map(({ id }) => id)]);
  throw usageError(`there is no runtime ${JSON.stringify(request.runtime.slice(0, 60))}${near}`);
}

/** Stores and programs that the user names are on this machine, where containers may not reach them. */
function needsThisMachine({ storeAccess, programPaths }: Request): string | undefined {
  if (storeAccess.STORE_URL) return "the store that STORE_URL names is reached from this machine";
  if (Object.keys(programPaths).length > 0) return "a store program of this machine was named";
  return undefined;
}

async function firstThatWorks(request: Request, open: Open): Promise<Chosen> {
  const here = needsThisMachine(request);
  const lacking: string[] = [];
  for (const description of runtimes) {
    if (here && description.id !== "local") continue;
    const answer = await description.available();
    if ("lacks" in answer) {
      lacking.push(answer.lacks);
      continue;
    }
    try {
      const runtime = await open(description);
      return { runtime, choice: here ?? [...lacking, answer.what].join("; ") };
    } catch (error) {
      // It answers, but is not fit, e.g. its images cannot be had: the next one may be.
      if (!(error instanceof BenchError) || error.exitCode !== EXIT.environment) throw error;
      lacking.push(`${answer.what}, but: ${messageOf(error)}`);
    }
  }
  throw new BenchError(lacking.join("; "), EXIT.environment);
}

/** Whether there is such a store: the one that already runs, or one that the runtime can start; or why not. */
export function hasStore(runtime: Runtime, external: Discovery | undefined, store: string): boolean | string {
  const { program } = findStore(store);
  if (program === undefined) return true;
  if (!external) {
    const facts = runtime.program(program);
    return typeof facts === "string" ? facts : true;
  }
  return external.store === store || `the store that already runs is ${external.store}`;
}
