import { BenchError, EXIT, messageOf, usageError } from "../../contract/errors.js";
import type { Discovery } from "../../contract/store.js";
import { runtimes } from "../../runtimes/index.js";
import type { Runtime, RuntimeDescription, RuntimeOptions } from "../../runtimes/types.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { type Availability, findStore } from "../../targets/resolve.js";
import { stores } from "../../targets/stores/index.js";
import { requireRemoved } from "../host/leftovers.js";
import { cpuNumbers } from "../host/machine.js";
import { isAlive } from "../ownership/state-folder.js";
import { requireCpus } from "../request/caps.js";
import type { Request } from "../request/request.js";

export interface OpenedRuntime {
  runtime: Runtime;
  /** Which one was taken, and why. */
  choice: string;
}

/**
 * Opens the runtime that was asked for; `auto` takes the first that works.
 * @throws usageError when there is no such runtime; environmentError when it does not work here
 */
export async function openRuntime(
  request: Request,
  options: Omit<RuntimeOptions, "programPaths">,
): Promise<OpenedRuntime> {
  const open = async (description: RuntimeDescription): Promise<Runtime> => {
    // Also what no lease tells of: labels outlive the state folder.
    for (const line of await requireRemoved(await description.leftovers(isAlive))) options.say(line);
    return description.open({ ...options, programPaths: request.programPaths });
  };
  const { runtime, choice } =
    request.runtime === "auto" ? await firstThatWorks(request, open) : await asAsked(request, open);
  return { runtime, choice: `runtime: ${runtime.id} (${choice})` };
}

type Open = (description: RuntimeDescription) => Promise<Runtime>;
interface Chosen {
  runtime: Runtime;
  choice: string;
}

/**
 * The runtime that a campaign would be opened on, without opening it.
 * @throws usageError when there is no such runtime
 */
export async function expectedRuntime(
  request: Request,
): Promise<{ description: RuntimeDescription; choice: string }> {
  if (request.runtime !== "auto") return { description: runtimeOf(request), choice: "as asked" };
  const here = needsThisMachine(request);
  const lacking: string[] = [];
  for (const description of runtimes) {
    if (here && description.id !== "local") continue;
    const answer = await description.available();
    if ("what" in answer) return { description, choice: here ?? [...lacking, answer.what].join("; ") };
    lacking.push(answer.unavailableReason);
  }
  throw new BenchError(lacking.join("; "), EXIT.environment);
}

/**
 * Refuses CPUs that are not there before anything is built or started: an engine would refuse them only with the first part.
 * @throws environmentError
 */
export async function requireRequestedCpus(request: Request): Promise<void> {
  if (Object.values(request.caps).every(({ cpuset }) => cpuset === undefined)) return;
  const { description } = await expectedRuntime(request);
  const count = await description.cpus();
  if (count !== undefined) requireCpus(request.caps, await cpuNumbers(count));
}

async function asAsked(request: Request, open: Open): Promise<Chosen> {
  return { runtime: await open(runtimeOf(request)), choice: "as asked" };
}

function runtimeOf(request: Request): RuntimeDescription {
  const description = runtimes.find(({ id }) => id === request.runtime);
  if (description) return description;
  const near = didYouMean(request.runtime, ["auto", ...runtimes.map(({ id }) => id)]);
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
    if ("unavailableReason" in answer) {
      lacking.push(answer.unavailableReason);
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

/** Whether a store will be there once the runtime is opened: for a plan that starts nothing. */
export async function expectedStores(
  description: RuntimeDescription,
  request: Request,
  packageFolder: string,
): Promise<Availability> {
  const answers = await Promise.all(
    stores.map(async ({ id, program }) => {
      const { programPaths } = request;
      const answer = program ? await description.has(program, { packageFolder, programPaths }) : true;
      return [id, answer] as const;
    }),
  );
  const known = new Map(answers);
  return (store) => known.get(store) ?? false;
}

/** Whether there is such a store: the one that already runs, or one that the runtime can start; or why not. */
export function storeAvailability(
  runtime: Runtime,
  external: Discovery | undefined,
  store: string,
): boolean | string {
  const { program } = findStore(store);
  if (program === undefined) return true;
  if (!external) {
    const facts = runtime.program(program);
    return typeof facts === "string" ? facts : true;
  }
  return external.store === store || `the store that already runs is ${external.store}`;
}
