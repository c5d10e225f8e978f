import { readFileSync } from "node:fs";

import {
  MACHINE_KEY,
  MANIFEST_SCHEMA_VERSION,
  OLDEST_REPORTED_VERSION,
} from "../src/contract/manifest.js";
import { COMPARED_KINDS, LATEST, RESULTS_ROOT } from "../src/contract/report-commands.js";
import { RESULT_SCHEMA_VERSION } from "../src/contract/result.js";
import { FOREIGN_CPU_PERCENT } from "../src/contract/role-resources.js";
import * as statistics from "../src/contract/statistics.js";
import { TURN_BIN_EDGES_MS } from "../src/contract/turns.js";
import { VERDICTS_FILE } from "../src/contract/verdicts.js";
import { PASSED } from "../src/judge/carried-links.js";
import { BACK_SHARE, BEFORE_S, RECOVERED, SAME_S } from "../src/judge/figures-of-faults.js";
import { ACCURACY, CURVE_THOUSANDTHS, MIN_SAMPLES, PERCENTILES } from "../src/judge/latency.js";
import { SLICE_MS } from "../src/judge/merging/slices.js";
import { ROUNDING } from "../src/judge/printed.js";
import { LATENESS } from "../src/judge/rules/steady-load.js";
import { EXIT } from "../src/kit/errors.js";
import { MAX_DOCUMENT_BYTES } from "../src/kit/user-files.js";
import { PACKAGE as DEFAULT_LIMITER } from "../src/targets/limiters/rate-limiter-flexible.js";
import { COPY, FRAMEWORK, SAME_SCRIPT } from "../src/targets/options.js";

/** The most runs of each side whose smallest p values the report's tests check. */
const CHECKED_RUNS = 30;
const upTo = (most: number): number[] => Array.from({ length: most }, (_, index) => index + 1);

if (RESULT_SCHEMA_VERSION !== MANIFEST_SCHEMA_VERSION)
  throw new Error("the report reads results and manifests of one version");

/** What each rule says, by its number, from the headings of docs/rules.md. */
const ruleSentences = Object.fromEntries(
  [...readFileSync("docs/rules.md", "utf8").matchAll(/^### (M\d+): (.+)$/gm)].map(
    ([, rule, sentence]) => [rule, sentence],
  ),
);

/** Numbers and names that harness and report share, for `report/base/contract.py`. */
export const sharedConstants = {
  exit_codes: EXIT,
  schema_version: RESULT_SCHEMA_VERSION,
  oldest_schema_version: OLDEST_REPORTED_VERSION,
  max_document_bytes: MAX_DOCUMENT_BYTES,
  verdicts_file: VERDICTS_FILE,
  level: statistics.LEVEL,
  margin_share: statistics.MARGIN_SHARE,
  min_runs: statistics.MIN_RUNS,
  min_pairs: statistics.MIN_PAIRS,
  min_rounds_to_pair: statistics.MIN_ROUNDS_TO_PAIR,
  min_trials_per_rate: statistics.MIN_TRIALS_PER_RATE,
  look_shares: statistics.LOOK_SHARES,
  settled_share: statistics.SETTLED_SHARE,
  systematic_components: statistics.SYSTEMATIC_COMPONENTS,
  copies_component: statistics.COPIES_COMPONENT,
  turn_bin_edges_ms: TURN_BIN_EDGES_MS,
  /** The report has the whole distributions: its tests compare them with what a plan says. */
  smallest_p: {
    paired: upTo(CHECKED_RUNS).map(statistics.smallestPairedP),
    unpaired: upTo(CHECKED_RUNS).map(statistics.smallestUnpairedP),
  },
  percentiles: Object.fromEntries(
    Object.entries(PERCENTILES).map(([name, thousandths]) => [name, thousandths / 10]),
  ),
  curve_percentiles: CURVE_THOUSANDTHS.map((thousandths) => thousandths / 10),
  min_samples: MIN_SAMPLES,
  latency_accuracy: ACCURACY,
  send_lateness: LATENESS,
  slice_ms: SLICE_MS,
  foreign_cpu_percent: FOREIGN_CPU_PERCENT,
  printed_rounding: ROUNDING,
  rule_sentences: ruleSentences,
  served_again: {
    seconds: RECOVERED.seconds,
    share: RECOVERED.served_share,
    beginning_share: BACK_SHARE,
    same_s: SAME_S,
    before_s: BEFORE_S.most,
  },
  /** In the order in which requests pass them. */
  kinds_passed: PASSED,
  compared_kinds: COMPARED_KINDS,
  results_root: RESULTS_ROOT,
  latest: LATEST,
  machine_key: MACHINE_KEY,
  copy: COPY,
  same_script: SAME_SCRIPT,
  framework: FRAMEWORK,
  default_limiter: DEFAULT_LIMITER,
} as const;
