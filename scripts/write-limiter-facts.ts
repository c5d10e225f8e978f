import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { missingFor } from "../test/helpers/target-system.js";
import {
  findBehaviour,
  type LimiterBehaviour,
  triedTargets,
} from "../test/suites/limiter-facts.js";

/**
 * `npm run facts [-- TEXT…]`: runs every limiter (or those whose target contains one of the texts)
 * on real systems and writes what it does to test/fixtures/limiter-facts.json, from which `npm run
 * generate` makes docs/limiters.md. What cannot run here keeps the findings of an earlier call, with
 * their date and versions.
 */
const path = fileURLToPath(new URL("../test/fixtures/limiter-facts.json", import.meta.url));
const known = new Map(
  (JSON.parse(readFileSync(path, "utf8")) as LimiterBehaviour[]).map((behaviour) => [
    behaviour.target,
    behaviour,
  ]),
);
const texts = process.argv.slice(2);
const targets = triedTargets();
for (const target of targets) {
  if (texts.length > 0 && !texts.some((text) => target.text.includes(text))) continue;
  const missing = missingFor(target);
  if (missing) {
    process.stderr.write(`${target.text}: kept, because there is no ${missing} here\n`);
    continue;
  }
  try {
    const behaviour = await findBehaviour(target);
    known.set(target.text, behaviour);
    process.stderr.write(`${JSON.stringify(behaviour)}\n`);
  } catch (error) {
    process.stderr.write(`${target.text}: ${String(error)}\n`);
    process.exitCode = 1;
  }
}
const found = targets.flatMap(({ text }) => known.get(text) ?? []);
writeFileSync(path, `${JSON.stringify(found, null, 2)}\n`);
// Some libraries keep timers.
process.exit();
