import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./programs.js";

/**
 * The Python with the package fakeredis, whose server speaks RESP and has no EVAL. It is undefined
 * without one.
 */
export function fakeredisPython(): string | undefined {
  const candidates = [process.env.FAKEREDIS_PYTHON, join(ROOT, ".venv/bin/python")];
  return candidates.find(
    (python) =>
      python &&
      existsSync(python) &&
      spawnSync(python, ["-c", "from fakeredis import TcpFakeServer"]).status === 0,
  );
}

/** Writes a program that starts the server, as a user would name it. @returns its path */
export function fakeredisProgram(folder: string): string {
  const path = join(folder, "fakeredis-server");
  writeFileSync(
    path,
    `#!${fakeredisPython()}
import argparse
from fakeredis import TcpFakeServer

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--bind", required=True)
given = parser.parse_args()
TcpFakeServer((given.bind, given.port), server_type="redis").serve_forever()
`,
  );
  chmodSync(path, 0o755);
  return path;
}
