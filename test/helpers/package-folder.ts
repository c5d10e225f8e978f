import { cpSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./programs.js";

/** Puts into a folder what a plan reads of an installed package, without a Python environment. */
export function copyPackage(folder: string): void {
  for (const name of ["__init__.py", "__main__.py", "cli", "environment"])
    cpSync(join(ROOT, "report", name), join(folder, "report", name), { recursive: true });
  cpSync(join(ROOT, "requirements.txt"), join(folder, "requirements.txt"));
}
