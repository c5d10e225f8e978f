import type { Environment } from "../../contract/env.js";
import type { Request } from "../request.js";
import { JsonScreen } from "./json.js";
import { LinesScreen } from "./lines.js";
import { QuietScreen } from "./quiet.js";
import { TerminalScreen } from "./terminal.js";
import type { Outputs, Screen } from "./types.js";

/** Whether somebody watches: a terminal that can move its cursor, and no CI job, whose log is read later. */
function isWatched({ out }: Outputs, env: Environment): boolean {
  const isCi = env.CI !== undefined && env.CI !== "" && env.CI !== "0" && env.CI !== "false";
  return out.isTTY === true && env.TERM !== "dumb" && !isCi;
}

/** The screen for what was asked and where it is shown. */
export function openScreen(
  { format, detail }: Request["telling"],
  outputs: Outputs,
  env: Environment,
): Screen {
  if (format === "json") return new JsonScreen(outputs, detail);
  if (detail === "quiet") return new QuietScreen(outputs);
  if (isWatched(outputs, env)) return new TerminalScreen(outputs, detail);
  return new LinesScreen(outputs, detail);
}
