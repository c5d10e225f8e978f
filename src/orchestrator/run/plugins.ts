import { usageError } from "../../contract/errors.js";
import type { Plan } from "../../contract/plan.js";
import type { PluginFacts } from "../../contract/plugins.js";
import type { MeasuredResult } from "../../contract/result.js";
import { type LoadedPlugin, loadPlugins } from "../../plugins/load.js";
import { registerTargets } from "../../plugins/register-targets.js";
import { registerTraffic } from "../../plugins/register-traffic.js";
import { PartFailed } from "./part-supervisor.js";

/**
 * Loads plugins into this process, once for each: from here on what they bring is listed, planned and measured like
 * the project's own.
 * @param paths absolute
 * @throws usageError naming the plugin and what is wrong with it
 */
export async function registerPlugins(paths: readonly string[]): Promise<LoadedPlugin[]> {
  const line = paths.find((path) => /[\n\r\0]/.test(path));
  if (line) throw usageError(`plugin ${JSON.stringify(line.slice(0, 60))}: a path has one line`);
  const plugins = await loadPlugins(paths);
  registerTargets(plugins);
  registerTraffic(plugins);
  return plugins;
}

const MEMBERS = ["clients", "limiters", "options", "traffic"] as const;

/** The plan with what a reader must know before the first figure: that not all of this is the project's. */
export const withPluginNotes = (plan: Plan, plugins: readonly LoadedPlugin[]): Plan => ({
  ...plan,
  notes: [...plan.notes, ...plugins.map(noteOf)],
});

function noteOf({ facts: { name, sha256, version }, members }: LoadedPlugin): string {
  const brought = MEMBERS.flatMap((kind) => {
    const ids = (members[kind] ?? []).map(({ id }) => String(id));
    return ids.length > 0 ? [`${kind} ${ids.join(", ")}`] : [];
  });
  return `from the plugin ${name}${version ? ` ${version}` : ""} (sha256 ${sha256.slice(0, 12)}…): ${brought.join("; ")}`;
}

/** @throws PartFailed when a program loaded other bytes than the campaign began with */
export function checkPlugins(existing: readonly PluginFacts[], result: MeasuredResult): void {
  const loaded = { server: result.server?.plugins, generator: result.plugins };
  for (const [role, facts = []] of Object.entries(loaded)) {
    const other = existing.find(({ sha256 }, index) => facts[index]?.sha256 !== sha256);
    if (other) throw new PartFailed(role, `the plugin ${other.name} has changed since the campaign began`);
  }
}
