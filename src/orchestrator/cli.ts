#!/usr/bin/env node
import { runProgram } from "../contract/program.js";

// Node opens hundreds of modules at once: where too few files may be open, only an import at run time can be caught.
// A list of failed checks has several lines.
runProgram(
  async () => (await import("./main.js")).main(),
  (text) => text,
);
