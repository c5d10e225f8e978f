import type { Environment } from "../../contract/env.js";
import { usageError } from "../../contract/errors.js";
import { JsonScreen, LineScreen, QuietScreen } from "./line-screen.js";
import { LiveScreen } from "./live-screen.js";
import type { OutputMode, Outputs, Screen } from "./types.js";

const canRedraw = ({ out }: Outputs, env: Environment): boolean => out.isTTY === true && env.TERM !== "dumb";

export const isCi = ({ CI }: Environment): boolean =>
  CI !== undefined && CI !== "" && CI !== "0" && CI !== "false";

/** Whether somebody watches the output now. The log of a CI job is read later. */
const isWatched = (outputs: Outputs, env: Environment): boolean => canRedraw(outputs, env) && !isCi(env);

export function openScreen(
  { format, detail, progress }: OutputMode,
  outputs: Outputs,
  env: Environment,
): Screen {
  if (format === "json") return new JsonScreen(outputs, detail);
  if (detail === "quiet") return new QuietScreen(outputs);
  if (progress === "live" && !canRedraw(outputs, env))
    throw usageError("--progress live needs a terminal: give --progress run or phase");
  if (progress === "live" || (progress === undefined && isWatched(outputs, env)))
    return new LiveScreen(outputs, detail);
  return new LineScreen(outputs, detail === "verbose" ? "verbose" : (progress ?? "run"));
}
