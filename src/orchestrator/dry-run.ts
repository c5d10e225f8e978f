import { type Configuration, loadText } from "../contract/configuration.js";
import type { Plan } from "../contract/plan.js";
import { diskBytes, durationText, estimateS, type Overheads, overheadsOf } from "./estimate.js";
import { makePlan } from "./plan.js";
import { usePlugins, withNotes } from "./plugins.js";
import type { Request } from "./request.js";
import { expectedRuntime, expectedStores } from "./runtime.js";
import { counted, textTable } from "./text-table.js";
import { installationNotes } from "./versions/index.js";
import { wantedVersions } from "./versions/wanted.js";

/** What a campaign would do, found out without starting anything. */
export interface Preview {
  runtime: { id: string; choice: string };
  plan: Plan;
  estimate: { seconds: number; disk_bytes: number };
  /** What was said while reading the request. */
  notices: string[];
}

/** @throws BenchError as the campaign itself would, before its first run */
export async function preview(request: Request, packageFolder: string): Promise<Preview> {
  const plugins = await usePlugins(request.plugins);
  makePlan(request, () => true);
  const { description, choice } = await expectedRuntime(request);
  const available = await expectedStores(description, request, packageFolder);
  const plan = withNotes(makePlan(request, available), plugins);
  const overheads: Overheads = await overheadsOf(description.id);
  return {
    runtime: { id: description.id, choice },
    plan,
    estimate: { seconds: Math.round(estimateS(plan, overheads)), disk_bytes: Math.round(diskBytes(plan)) },
    notices: [
      ...request.notices,
      ...(await installationNotes(wantedVersions(plan))),
      ...(request.storeAccess.STORE_URL
        ? ["the store that STORE_URL names was not asked: its kind may skip more"]
        : []),
    ],
  };
}

const extentText = ({ extent }: Configuration): string =>
  "duration_s" in extent ? `${extent.duration_s} s` : `${extent.requests} requests`;

/** The matrix: a line a configuration. */
export function matrixLines({ configurations, runs_per_configuration }: Plan): string[] {
  const rows = configurations.map(({ hash, configuration }) => {
    const { target, workload, traffic, load } = configuration;
    const complexity = workload.complexity === undefined ? "" : ` (${workload.complexity})`;
    const { store, topology, label } = target;
    const place = topology === "none" ? "no store" : `${store} ${topology}`;
    const cells = [label, place, `${workload.id}${complexity}`, traffic, loadText(load)];
    return [...cells, extentText(configuration), String(runs_per_configuration), hash];
  });
  const head = ["target", "store", "workload", "traffic", "load", "measured", "runs", "hash"];
  return textTable([head, ...rows]);
}

/** The order by the configurations' numbers, a line a round in interleaved order. */
function orderLines({ order, configurations, runs }: Plan): string[] {
  if (order === "consecutive") return ["  each configuration with all its runs, from the first to the last"];
  const number = new Map(configurations.map(({ hash }, index) => [hash, index + 1]));
  const rounds = [...new Set(runs.map(({ run }) => run))];
  return rounds.map((round) => {
    const numbers = runs
      .filter(({ run }) => run === round)
      .map(({ configuration_hash }) => number.get(configuration_hash));
    return `  round ${round}: ${numbers.join(" ")}`;
  });
}

/** The preview for people. */
export function previewLines({ runtime, plan, estimate, notices }: Preview, now = new Date()): string[] {
  const [head = "", ...rows] = matrixLines(plan);
  const width = String(rows.length).length;
  const ends = new Date(now.getTime() + estimate.seconds * 1000);
  const counts = `${counted(plan.runs.length, "run")} of ${counted(plan.configurations.length, "configuration")}`;
  const disk = `${Math.ceil(estimate.disk_bytes / 1e6)} MB on disk`;
  return [
    `runtime: ${runtime.id} (${runtime.choice})`,
    `${" ".repeat(width + 3)}${head}`,
    ...rows.map((row, index) => ` ${String(index + 1).padStart(width)}  ${row}`),
    `order: ${plan.order}, seed ${plan.seed}`,
    ...orderLines(plan),
    ...plan.skips.map(({ asked, reason }) => `skipped ${asked}: ${reason}`),
    ...[...plan.notes, ...notices].map((note) => `note: ${note}`),
    `${counts}, about ${durationText(estimate.seconds)} (until ${ends.toTimeString().slice(0, 5)}), ${disk}`,
  ];
}
