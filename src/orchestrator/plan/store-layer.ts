import {
  type Configuration,
  type Limits,
  RANDOM_KEYS,
  type Workload,
} from "../../contract/configuration.js";
import { byDimension, namedCounts } from "../../contract/dimensions.js";
import { isProgramLayer } from "../../contract/layers.js";
import { type Plan, plannedFrom } from "../../contract/plan.js";
import type { StoreFeature } from "../../contract/store.js";
import type { Target } from "../../contract/target.js";
import { usageError } from "../../kit/errors.js";
import { didYouMean } from "../../targets/did-you-mean.js";
import { storeLayerPrograms } from "../../targets/load-programs/index.js";
import { findOperation, KEYSPACE } from "../../targets/load-programs/operations.js";
import { type Availability, findStore } from "../../targets/resolve.js";
import { stores } from "../../targets/stores/index.js";
import { dynamicDurationS } from "../request/durations.js";
import type { Request } from "../request/request.js";
import type { Planned } from "./rankings.js";
import { capsOfKinds, roleCounts } from "./role-counts.js";

/**
 * What a store lacks, or why it cannot be measured at all; a store that was not asked is absent.
 */
export type StoreFindings = ReadonlyMap<string, readonly StoreFeature[] | string>;

const STANDALONE = "standalone";

/** No limiter decides at the store layer: these limits only fill their place. */
const NO_LIMITS: Limits = { points: 1, window_s: 60, block_s: 0 };

function requireKnownStores({
  stores: named,
  programs,
}: Pick<Request, "stores" | "programs">): void {
  const known = stores.flatMap(({ id, program }) => (program ? [id] : []));
  const wrong = named.find(
    (id) => !known.includes(id) && !programs.paths[id] && !programs.images[id],
  );
  if (wrong === undefined) return;
  throw usageError(
    `--stores: there is no store ${JSON.stringify(wrong.slice(0, 60))}${didYouMean(wrong, known)}; name the program of another server with --program ${wrong}=PATH or --image ${wrong}=REF`,
  );
}

export function registerNamedStores({
  stores: named,
  programs,
}: Pick<Request, "stores" | "programs">): void {
  for (const id of named) {
    if (stores.some((store) => store.id === id) || !(programs.paths[id] || programs.images[id]))
      continue;
    (stores as (typeof stores)[number][]).push({
      id,
      engine: "resp",
      program: id,
      topologies: [STANDALONE],
      isNamed: true,
    });
  }
}

const targetOf = (program: string, store: string): Target => ({
  text: `${program}@${store}:${STANDALONE}`,
  label: store,
  client: program,
  store,
  topology: STANDALONE,
  limiter: "none",
  options: [],
  decided_by: "nothing",
  algorithm: "none",
});

/** Each operation with each payload size; those without a value once. */
function workloadsOf({ operations, payloadBytes }: Request): Workload[] {
  return operations.flatMap((id) => {
    const { hasPayload } = findOperation(id);
    const sizes = hasPayload ? payloadBytes : [undefined];
    return sizes.map((bytes) => ({
      id,
      ...(bytes === undefined ? {} : { payload_bytes: bytes }),
      keys: KEYSPACE,
    }));
  });
}

const benchmarkHere = (available: Availability): string | undefined =>
  storeLayerPrograms.find(({ id }) => available(id) === true)?.id;

const NO_BENCHMARK = `no ${storeLayerPrograms.map(({ program }) => program).join(" or ")} was found: install one, or name it with --program ${storeLayerPrograms[0]?.id}=PATH (in containers --image ${storeLayerPrograms[0]?.id}=REF)`;

function missingStore(
  id: string,
  available: Availability,
  findings: StoreFindings,
): string | undefined {
  const { engine, program } = findStore(id);
  if (engine !== "resp")
    return `${id} does not speak RESP, which ${storeLayerPrograms[0]?.id} needs`;
  const here = available(id);
  if (here !== true) return here || `no ${program} was found on this machine`;
  const found = findings.get(id);
  return typeof found === "string" ? found : undefined;
}

const durationS = ({ duration }: Request, connections: number): number =>
  duration.mode === "fixed" ? duration.seconds : dynamicDurationS(connections, false);

type StoreLayerContext = {
  available: Availability;
  caps?: Configuration["caps"];
  findings?: StoreFindings;
};

/** Every store with every operation, payload and number of connections. @throws usageError */
export function storeLayerConfigurations(
  request: Request,
  { available, caps = {}, findings = new Map() }: StoreLayerContext,
): Pick<Plan, "skips" | "notes"> & { configurations: Planned[] } {
  if (!request.layers.some(isProgramLayer)) return { configurations: [], skips: [], notes: [] };
  requireKnownStores(request);
  registerNamedStores(request);
  const workloads = workloadsOf(request);
  const program = benchmarkHere(available);
  const skips: Plan["skips"] = [];
  const notes: string[] = [];
  const planned: Planned[] = [];
  const usable = request.stores.filter((id) => {
    const reason = program === undefined ? NO_BENCHMARK : missingStore(id, available, findings);
    if (reason !== undefined) skips.push({ asked: id, reason });
    return reason === undefined;
  });
  const lacks = (id: string): readonly string[] => {
    const found = findings.get(id);
    return Array.isArray(found) ? found : [];
  };
  for (const id of usable)
    if (lacks(id).length > 0) notes.push(`${id} has no ${lacks(id).join(", ")}`);
  for (const connections of request.connections) {
    for (const workload of workloads) {
      const { needs } = findOperation(workload.id);
      for (const id of usable) {
        if (needs && lacks(id).includes(needs)) {
          const asked = `${id} ${workload.id}`;
          if (!skips.some((skip) => skip.asked === asked))
            skips.push({ asked, reason: `${id} has no ${needs}` });
          continue;
        }
        const target = targetOf(program ?? "", id);
        const counts = namedCounts(byDimension(() => 0));
        const configuration: Configuration = {
          layer: "store",
          target,
          ...counts,
          workload,
          traffic: RANDOM_KEYS,
          load: { model: "closed", connections },
          extent: { duration_s: durationS(request, connections) },
          limits: NO_LIMITS,
          caps: capsOfKinds(caps, roleCounts({ target, ...counts })),
        };
        planned.push(plannedFrom(configuration));
      }
    }
  }
  return { configurations: planned, skips, notes };
}
