import { audit } from "./audit-command.js";
import { clean } from "./clean-command.js";
import type { CliCommand } from "./command-types.js";
import { compare } from "./compare-command.js";
import { completion } from "./completion-command.js";
import { doctor } from "./doctor-command.js";
import { help } from "./help-command.js";
import { judge } from "./judge-command.js";
import { kubernetes } from "./kubernetes-command.js";
import { memory } from "./memory-command.js";
import { report } from "./report-command.js";
import { run, single } from "./run-command.js";
import { version } from "./version-command.js";

/** In the order in which help lists them. */
export const commands: readonly CliCommand[] = [
  run,
  single,
  report,
  judge,
  compare,
  memory,
  audit,
  doctor,
  clean,
  kubernetes,
  version,
  completion,
  help,
];
