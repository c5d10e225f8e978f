import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const tools = process.env.PYTHON_TOOLS ?? `${root}.venv/bin`;

/**
 * A Python module as the project's formatter leaves it. @throws Error when the formatter is missing
 * @param path of the module from the root
 */
export function formattedPython(path: string, text: string): string {
  const ruff = `${tools}/ruff`;
  if (!existsSync(ruff)) throw new Error(`${ruff} is missing: run ./scripts/setup.sh --dev`);
  return execFileSync(ruff, ["format", "--stdin-filename", path, "-"], {
    cwd: root,
    encoding: "utf8",
    input: text,
  });
}
