import type { Configuration } from "../../contract/configuration.js";
import { isClientLayer } from "../../contract/layers.js";
import { EXHAUSTED_KEY_PREFIX } from "../../contract/server-api.js";
import type { Target } from "../../contract/target.js";
import {
  type LoadProgram,
  type LoadWork,
  RANDOM_KEY,
} from "../../targets/load-programs/load-program.js";
import { findLoadProgram } from "../../targets/load-programs/load-programs.js";
import { findLimiter } from "../../targets/resolve.js";
import { findProfile } from "../../traffic/lookup.js";
import { openTraffic } from "../../traffic/streams.js";
import { FRESH_KEY } from "../../traffic/traffic-types.js";
import type { Request } from "../request/request.js";

/**
 * The number of calls in a list that a program sends round and round. They are enough for every key
 * of a profile to appear by its share.
 */
const LISTED_CALLS = 50_000;

type TargetUnderLoad = Pick<Configuration, "layer" | "generators" | "traffic" | "load"> & {
  target: Target;
};

/**
 * Why the load program of a target cannot make this part of a campaign; undefined where it can, or
 * there is none.
 */
export function loadProgramReason(
  { layer, generators = 1, target: { program: id }, traffic, load }: TargetUnderLoad,
  request: Pick<Request, "rounds" | "load">,
): string | undefined {
  if (id === undefined) return undefined;
  if (!isClientLayer(layer))
    return `${id} calls what decides itself: measure it with --layer limiter`;
  if (generators > 1) return `${id} is the only generator of its load: leave --generators out`;
  if (load.model === "open") return `${id} runs closed loops: it has no rate`;
  if (request.load.duration.mode === "requests")
    return `${id} runs for a time: give another --duration-mode`;
  if (request.rounds.adaptive)
    return `${id} is a control: give the number of runs instead of --runs auto`;
  return trafficReason(findLoadProgram(id), traffic);
}

function trafficReason({ id, sends }: LoadProgram, traffic: string): string | undefined {
  const { order, population } = findProfile(traffic);
  const { requests, shares } = population();
  if (requests.some((descriptors) => descriptors.length > 1))
    return `${id} sends one key a call, and the traffic ${traffic} has several`;
  if (requests.some(([key]) => key === FRESH_KEY))
    return `${id} repeats its calls, and the traffic ${traffic} has keys that are never seen again`;
  if (sends === "a list") return undefined;
  const isEven = shares.every((share) => Math.abs(share - 1 / shares.length) < 1e-9);
  const exhausted = requests.filter(([key]) => key.startsWith(EXHAUSTED_KEY_PREFIX)).length;
  if (isEven && order !== "sequential" && (exhausted === 0 || exhausted === requests.length))
    return undefined;
  return `${id} draws its keys, each as likely as any other: give --traffic random`;
}

/**
 * A run's calls, as its client would make them.
 * @throws Error for a limiter whose calls a library makes
 */
export function callsOf(
  { sends }: LoadProgram,
  configuration: Pick<Configuration, "target" | "traffic" | "limits" | "load">,
  seed: number,
  run: { nonce: string; keyPrefix: string },
): Pick<LoadWork, "calls" | "keys"> {
  const { target, traffic, limits, load } = configuration;
  const { connections } = load;
  const { callOf } = findLimiter(target.limiter);
  if (!callOf) throw new Error(`${target.limiter} makes its calls itself`);
  const callOn = (key: string) => callOf(key, limits, run);
  const range = { connections, first: 0, count: connections };
  const { requests, streams } = openTraffic(findProfile(traffic), seed, range);
  if (sends === "even draws") {
    const [[key] = [""]] = requests;
    return { calls: [callOn(key.replace(/\d*$/, RANDOM_KEY))], keys: requests.length };
  }
  const calls = requests.map(([key]) => callOn(key));
  return {
    calls: Array.from({ length: LISTED_CALLS }, (_, index) => {
      const request = streams[index % connections]?.next() ?? 0;
      return calls[request] as object;
    }),
    keys: requests.length,
  };
}
