import { describe, expect, test } from "vitest";
import {
  estimateCampaignS,
  learnOverheads,
  overheadsOf,
} from "../../../../src/orchestrator/plan/estimate.js";
import { makePlan } from "../../../../src/orchestrator/plan/plan.js";
import { ownStateFolder, temporaryFolders } from "../../../helpers/folders.js";
import { everything, requestOf } from "../../../helpers/request.js";

const stateFolder = ownStateFolder(temporaryFolders());
const overheads = { none: 1, standalone: 2, cluster: 7 };
const short = ["--duration-mode", "custom:10", "--warmup", "3", "--concurrency", "50"];

describe("the estimate", () => {
  const plan = (...flags: string[]) => makePlan(requestOf(...short, ...flags), everything);

  test("adds up warm-up, window, starting and stopping of every run, with a pause between two", () => {
    const seconds = (runs: string) => estimateCampaignS(plan("--cooldown", "2", "--runs", runs), overheads);
    expect(seconds("3") - seconds("2")).toBeCloseTo(3 + 10 + 2 + 2);
    expect(seconds("1")).toBeCloseTo(3 + 10 + 2 + 4);
  });

  test("expects 4 s of an automatic warm-up", () => {
    const seconds = estimateCampaignS(plan("--warmup", "auto", "--runs", "1"), overheads);
    expect(seconds).toBeCloseTo(4 + 10 + 2 + 4);
  });

  test("has longer pauses between clients only in consecutive order", () => {
    const flags = ["--clients", "iovalkey,ioredis", "--runs", "2", "--cooldown", "1,9"];
    const seconds = (order: string) => estimateCampaignS(plan(...flags, "--order", order), overheads);
    expect(seconds("consecutive") - seconds("interleaved")).toBeCloseTo(9 - 1);
  });
});

test("what runs took on this machine is saved by runtime and topology, and used as a median", async () => {
  const [planned] = makePlan(requestOf(...short), everything).configurations;
  const configuration = planned?.configuration;
  if (!configuration) throw new Error("nothing is planned");
  const took = (...seconds: number[]) => seconds.map((each) => ({ configuration, seconds: each }));
  stateFolder();
  const before = await overheadsOf("local");
  await learnOverheads("local", { warmup_s: 3, order: "interleaved" }, took(13 + 5, 13 + 50, 13 + 6));
  expect(await overheadsOf("local")).toEqual({ ...before, standalone: 6 });
  expect((await overheadsOf("docker")).standalone).not.toBe(6);
});
