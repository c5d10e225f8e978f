import { readFileSync } from "node:fs";

/** imports.json: which folder may import which. */
interface Imports {
  /**
   * Folders of `src/`, each with those that it may import. An inner folder may import others than
   * the one around it.
   */
  src: Record<string, string[]>;
  /**
   * Inner folders, from the highest to the lowest: each may import those after it. Siblings stand
   * together.
   */
  "src/orchestrator": string[][];
  report: string[][];
}

const imports: Imports = JSON.parse(
  readFileSync(new URL("../imports.json", import.meta.url), "utf8"),
);

/** A rule of Biome, which also sees imports of types alone. */
function override(folder: string, forbidden: readonly string[], prefix: string, allowed: string) {
  const message = `${folder} may only import ${allowed || "no other folder"}: see docs/architecture.md.`;
  const group = forbidden.map((name) =>
    name.includes(".") ? `**/${name}` : `${prefix}${name}/**`,
  );
  const noRestrictedImports = { level: "error", options: { patterns: [{ group, message }] } };
  return {
    includes: [`src/${folder}/**`],
    linter: { rules: { style: { noRestrictedImports } } },
  };
}

/** Folders of `src/`; an inner folder is part of the one around it. */
const folders = Object.keys(imports.src).filter((folder) => !folder.includes("/"));

/** Folders and files that a folder may not import. */
function forbiddenFor(folder: string): string[] {
  const allowed = imports.src[folder] ?? [];
  const forbidden = folders.filter((other) => other !== folder && !allowed.includes(other));
  // That file would load all clients into the load generator.
  return folder === "benchmark" ? [...forbidden, "register-targets.js"] : forbidden;
}

/**
 * Biome's rules. For a file the last override with the rule counts, so inner folders repeat those
 * of their folder.
 */
export function biomeImports() {
  const overrides = Object.entries(imports.src).map(([folder, allowed]) =>
    override(folder, forbiddenFor(folder), "**/", allowed.join(", ")),
  );
  const layers = imports["src/orchestrator"];
  for (const [index, names] of layers.entries()) {
    // What is highest imports what it likes.
    if (index === 0) continue;
    for (const name of names) {
      const siblings = names.filter((other) => other !== name);
      const higher = [...layers.slice(0, index).flat(), ...siblings];
      const lower = layers.slice(index + 1).flat();
      overrides.push(layerOverride(name, higher, lower));
    }
  }
  return { root: false, overrides };
}

/** The rule for a folder of the orchestrator, which repeats the orchestrator's own. */
function layerOverride(name: string, higher: readonly string[], lower: readonly string[]) {
  const rule = override(`orchestrator/${name}`, higher, "**/", lower.join(", "));
  const [pattern] = rule.linter.rules.style.noRestrictedImports.options.patterns;
  const forbidden = forbiddenFor("orchestrator").map((folder) => `**/${folder}/**`);
  pattern?.group.push(...forbidden, "**/cli.js", "**/main.js");
  return rule;
}

/** The layers of the report for import-linter. */
export const pythonLayers = (): string =>
  [
    "layers = [",
    ...imports.report.map((names) => `  ${JSON.stringify(names.join(" | "))},`),
    "]",
    "",
  ].join("\n");

const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");

/** The lists in docs/architecture.md. */
export function importsText(): string {
  const layers = (title: string, rows: readonly (readonly string[])[]): string[] => [
    "",
    `${title}: each folder imports only those after it.`,
    "",
    rows.map(code).join(" → "),
  ];
  return [
    "Each folder of `src/` imports only:",
    "",
    ...Object.entries(imports.src).map(
      ([folder, allowed]) => `- \`${folder}\`: ${code(allowed) || "zod"}`,
    ),
    ...layers("Inside `src/orchestrator/`", imports["src/orchestrator"]),
    ...layers("Inside `report/`", imports.report),
    "",
  ].join("\n");
}
