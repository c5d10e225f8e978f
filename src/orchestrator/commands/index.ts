import { audit } from "./audit.js";
import { clean } from "./clean.js";
import { compare } from "./compare.js";
import { completion } from "./completion.js";
import { doctor } from "./doctor.js";
import { help } from "./help.js";
import { judge } from "./judge.js";
import { kubernetes } from "./kubernetes.js";
import { memory } from "./memory.js";
import { report } from "./report.js";
import { run, single } from "./run.js";
import type { CliCommand } from "./types.js";
import { version } from "./version.js";

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
