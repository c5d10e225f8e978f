import { hash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Plan } from "../../contract/plan.js";
import type { PluginIdentity, TraceSummary } from "../../contract/plugins.js";
import type { MeasuredResult } from "../../contract/result.js";
import { usageError } from "../../kit/errors.js";
import { type LoadedPlugin, loadPlugins } from "../../plugins/load.js";
import { registerTargets } from "../../plugins/register-targets.js";
import { registerTraffic } from "../../plugins/register-traffic.js";
import { limitedInTrace } from "../../traffic/prediction.js";
import { encodeTrace, TRACE_EXTENSION, traceProfile } from "../../traffic/trace.js";
import type { TrafficProfile } from "../../traffic/traffic-types.js";
import type { ReadTrace } from "../files/trace-log.js";
import { GENERATOR } from "../run/layout.js";
import { PartFailed } from "../run/part-supervisor.js";

const TRACE_FILE = `requests${TRACE_EXTENSION}`;

/**
 * The plugin of a trace, which reaches the programs as plugins do. It has no file before a campaign
 * has a folder for one.
 */
function pluginOf(trace: ReadTrace): LoadedPlugin {
  const sha256 = hash("sha256", encodeTrace(trace));
  return {
    path: "",
    displayName: TRACE_FILE,
    entry: "",
    isSingleFile: true,
    identity: { name: TRACE_FILE, sha256, trace: trace.summary },
    members: { traffic: [{ ...traceProfile(trace) }] },
  };
}

/** The plugins with the file of the trace, which lives as long as the folder. */
export async function withTraceFile(
  plugins: readonly LoadedPlugin[],
  trace: ReadTrace | undefined,
  folder: string,
): Promise<readonly LoadedPlugin[]> {
  if (!trace) return plugins;
  const path = join(folder, TRACE_FILE);
  await writeFile(path, encodeTrace(trace));
  return plugins.map((plugin) => (plugin.path === "" ? { ...plugin, path, entry: path } : plugin));
}

/**
 * Loads and registers the plugins of these paths, each once, and that of a trace.
 * @throws usageError that names the plugin and its error
 */
export async function registerPlugins(
  paths: readonly string[],
  trace?: ReadTrace,
): Promise<LoadedPlugin[]> {
  const malformed = paths.find((path) => /[\n\r\0]/.test(path));
  if (malformed)
    throw usageError(`plugin ${JSON.stringify(malformed.slice(0, 60))}: a path has one line`);
  const plugins = await loadPlugins(paths);
  if (trace) plugins.push(pluginOf(trace));
  registerTargets(plugins);
  registerTraffic(plugins);
  return plugins;
}

const MEMBERS = ["stores", "clients", "limiters", "options", "traffic"] as const;

/**
 * The plan with its sources, from which readers learn which targets and which traffic are not those
 * of the project.
 * @param apps lines on the apps that are measured
 */
export function withSources(
  plan: Plan,
  plugins: readonly LoadedPlugin[],
  apps: readonly string[] = [],
): Plan {
  if (plugins.length === 0 && apps.length === 0) return plan;
  const expected = plugins.flatMap((plugin) => expectedOf(plugin, plan));
  return { ...plan, sources: [...apps, ...plugins.map(sourceOf), ...expected] };
}

const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

function traceSource({ sha256, lines, keys, span_s, top_shares }: TraceSummary): string {
  const { top_1, top_10, top_100 } = top_shares;
  const shares = `${percent(top_1)}, ${percent(top_10)} and ${percent(top_100)}`;
  return `the trace (sha256 ${sha256.slice(0, 12)}…): ${lines} requests in ${Math.round(span_s)} s on ${keys} keys; the top 1, 10 and 100 keys have ${shares} of them`;
}

/**
 * Lines on the share of a trace that is expected to be limited, one for each algorithm, limits and
 * rate of a plan.
 */
function expectedOf({ identity, members: { traffic = [] } }: LoadedPlugin, plan: Plan): string[] {
  if (!identity.trace) return [];
  const { trace } = traffic[0] as unknown as TrafficProfile;
  // A prediction takes a while, so it is made once for each case.
  const cases = new Map<string, () => string>();
  for (const { configuration } of plan.configurations) {
    const { load, limits, target } = configuration;
    const { points, window_s, cost = 1 } = limits;
    const algorithm = target.algorithm ?? "fixed window";
    if (!trace || points >= cost * trace.keys.length) continue;
    const costText = cost > 1 ? ` at cost ${cost}` : "";
    const limitsText = `${points} points in ${window_s} s${costText}, ${algorithm}`;

    if (load.model === "closed") {
      const reason = "not predicted before the run, whose speed decides in a closed loop";
      cases.set(limitsText, () => `${limitsText}: ${reason}`);
      continue;
    }

    const { rate_per_second: rate } = load;
    const text = `${limitsText}, ${rate}/s`;
    cases.set(text, () => {
      const share = limitedInTrace(trace, limits, algorithm, rate);
      return `${text}: ${percent(share)} of the trace are expected to be limited`;
    });
  }
  return [...cases.values()].map((lineOf) => lineOf());
}

function sourceOf({ identity: { name, sha256, version, trace }, members }: LoadedPlugin): string {
  if (trace) return traceSource(trace);
  const contents = MEMBERS.flatMap((kind) => {
    const ids = (members[kind] ?? []).map(({ id }) => String(id));
    return ids.length > 0 ? [`${kind} ${ids.join(", ")}`] : [];
  });
  const nameText = version ? `${name} ${version}` : name;
  return `from the plugin ${nameText} (sha256 ${sha256.slice(0, 12)}…): ${contents.join("; ")}`;
}

/** @throws PartFailed where a plugin has changed since the campaign started */
export function checkPlugins(expected: readonly PluginIdentity[], result: MeasuredResult): void {
  const loaded = [...result.consumers, { id: GENERATOR, plugins: result.plugins }];
  for (const { id, plugins: identities = [] } of loaded) {
    const changed = expected.find(({ sha256 }, index) => identities[index]?.sha256 !== sha256);
    if (changed)
      throw new PartFailed(id, `the plugin ${changed.name} has changed since the campaign started`);
  }
}
