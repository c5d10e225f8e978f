#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { requireNode, runMain } from "../kit/program.js";

const { engines } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

// Node opens hundreds of modules at once: where too few files may be open, only an import at run
// time can be caught, as where Node is too old for one of them. A list of failed checks has several
// lines.
runMain(
  async () => {
    requireNode(engines.node);
    return (await import("./main.js")).main();
  },
  (text) => text,
);
