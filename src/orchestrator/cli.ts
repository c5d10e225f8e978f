#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { requireNode, runMain } from "../kit/program.js";

const { engines } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);

// Node opens hundreds of modules at once. Where too few files may be open, or Node is too old for
// one of the modules, only an import at run time can be caught. The text of an error stays whole,
// because a list of failed checks has several lines.
runMain(
  async () => {
    requireNode(engines.node);
    return (await import("./main.js")).main();
  },
  (text) => text,
);
