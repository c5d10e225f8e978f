import { SINGLE_VARIABLES } from "../src/orchestrator/request/original.js";
import type { Setting } from "../src/orchestrator/request/setting-types.js";
import { GROUPS, SETTINGS } from "../src/orchestrator/request/settings.js";

function flagLine({ key, value, help, defaultText, defaultValue, variable }: Setting): string {
  const flag = `\`--${key}${value ? ` ${value}` : ""}\``;
  const shown = defaultText ?? defaultValue;
  const remarks: string[] = [];
  if (shown) remarks.push(`default: ${shown}`);
  if (variable) remarks.push(`\`${variable}\``);
  const bracket = remarks.length > 0 ? ` (${remarks.join("; ")})` : "";
  return `- ${flag}${bracket}: ${help}`;
}

const heading = (title: string): string =>
  `${title.charAt(0).toUpperCase()}${title.slice(1).replace(/:$/, "")}`;

/** The lists in docs/flags.md. */
export const flagsText = (): string =>
  GROUPS.map(
    ({ title, settings }) => `## ${heading(title)}\n\n${settings.map(flagLine).join("\n")}\n`,
  ).join("\n");

/**
 * The list in docs/environment-variables.md: variables of a single configuration that no flag has.
 */
export function singleVariablesText(): string {
  const ofFlags = SETTINGS.map(({ variable }) => variable);
  return Object.entries(SINGLE_VARIABLES)
    .filter(([name]) => !ofFlags.includes(name))
    .map(([name, help]) => `- \`${name}\`: ${help}\n`)
    .join("");
}
