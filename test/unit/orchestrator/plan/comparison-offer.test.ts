import { expect, test } from "vitest";
import { comparisonOffer } from "../../../../src/orchestrator/plan/comparison-offer.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { everything, requestOf } from "../../../helpers/request.js";

const LOADS = ["--concurrency", "50 100", "--duration-mode", "fixed30"];
const offerOf = (...flags: string[]) =>
  comparisonOffer(requestOf(...LOADS, ...flags), everything, { standalone: 3 });

test("a single target is offered a reference, with the flags and the runs that decide", () => {
  const [offer = ""] = offerOf("--clients", "valkey-glide");
  const offered = makePlan(
    requestOf("--clients", "valkey-glide", ...LOADS, "--reference", "auto", "--runs", "6"),
    everything,
  );
  expect(offer).toContain(": --reference auto --runs 6 adds the reference ioredis@valkey (");
  expect(offer).toMatch(new RegExp(`\\(${offered.runs.length} runs, about \\d+ min\\)$`));
});

test("as many runs as were asked for are offered where they decide", () => {
  expect(offerOf("--clients", "iovalkey", "--runs", "9").join()).toContain(
    ": --reference auto adds ",
  );
});

test.each([
  "--clients none",
  "--clients memcached",
  "--clients iovalkey,valkey-glide",
  "--clients iovalkey --reference auto",
  "--clients iovalkey --fault store-restart",
  // As `memory` measures: bytes, and no speed.
  "--clients iovalkey --layer limiter --traffic variable --duration-mode requests:1000",
])("%s gets no offer", (flags) => {
  expect(offerOf(...flags.split(" "))).toEqual([]);
});
