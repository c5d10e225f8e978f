import { usageError } from "../../contract/errors.js";
import type { Plan } from "../../contract/plan.js";
import type { PluginFacts } from "../../contract/plugins.js";
import type { MeasuredResult } from "../../contract/result.js";
import { type LoadedPlugin, loadPlugins } from "../../plugins/load.js";
import { registerTargets } from "../../plugins/register-targets.js";
import { registerTraffic } from "../../plugins/register-traffic.js";
import { GENERATOR } from "./layout.js";
import { PartFailed } from "./part-supervisor.js";

/**
 * Loads plugins into this process, each once. From then on their stores, clients, limiters, options and traffic are
 * listed, planned and measured like the project's own.
 * @param paths absolute
 * @throws usageError naming the plugin and its error
 */
export async function registerPlugins(paths: readonly string[]): Promise<LoadedPlugin[]> {
  const malformed = paths.find((path) => /[\n\r\0]/.test(path));
  if (malformed) throw usageError(`plugin ${JSON.stringify(malformed.slice(0, 60))}: a path has one line`);
  const plugins = await loadPlugins(paths);
  registerTargets(plugins);
  registerTraffic(plugins);
  return plugins;
}

const MEMBERS = ["stores", "clients", "limiters", "options", "traffic"] as const;

/** The plan with a note for each plugin: readers must know that its targets or traffic are not the project's. */
export const withPluginNotes = (plan: Plan, plugins: readonly LoadedPlugin[]): Plan => ({
  ...plan,
  notes: [...plan.notes, ...plugins.map(noteOf)],
});

function noteOf({ facts: { name, sha256, version }, members }: LoadedPlugin): string {
  const contents = MEMBERS.flatMap((kind) => {
    const ids = (members[kind] ?? []).map(({ id }) => String(id));
    return ids.length > 0 ? [`${kind} ${ids.join(", ")}`] : [];
  });
  return `from the plugin ${name}${version ? ` ${version}` : ""} (sha256 ${sha256.slice(0, 12)}…): ${contents.join("; ")}`;
}

/** @throws PartFailed when a plugin has changed since the campaign started */
export function checkPlugins(expected: readonly PluginFacts[], result: MeasuredResult): void {
  const loaded = [...result.consumers, { id: GENERATOR, plugins: result.plugins }];
  for (const { id, plugins: facts = [] } of loaded) {
    const changed = expected.find(({ sha256 }, index) => facts[index]?.sha256 !== sha256);
    if (changed)
      throw new PartFailed(id, `the plugin ${changed.name} has changed since the campaign started`);
  }
}
