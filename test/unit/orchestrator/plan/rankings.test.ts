import { describe, expect, test } from "vitest";
import { type Plan, planSchema } from "../../../../src/contract/plan.js";
import { EXIT } from "../../../../src/kit/errors.js";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { plannedRankings } from "../../../../src/orchestrator/plan/rankings.js";
import { separating } from "../../../../src/targets/options.js";
import { expectFailure } from "../../../helpers/errors.js";
import {
  everything,
  labelsOf as labels,
  onlyValkey,
  parsed,
  planFor,
  requestOf,
} from "../../../helpers/request.js";

const planOf = (clients: string, ...flags: string[]) =>
  planFor("--clients", clients, "--concurrency", "50", "--runs", "6", ...flags);
/** Of the store layer. */
const storeRequest = (...flags: string[]) =>
  parsed([
    ..."--layer store --stores valkey,redis --operations incr --concurrency 5".split(" "),
    ...flags,
  ]);
const references = (plan: Plan) =>
  plannedRankings(plan).flatMap(({ reference }) => reference?.configuration.target.label ?? []);

describe("references", () => {
  test("are the first that was named of each store, script mode, topology and limiter", () => {
    const plan = planOf(
      "node-redis@valkey,iovalkey,ioredis,node-redis,iovalkey+same-script,ioredis@valkey+same-script,iovalkey:cluster,valkey-glide:cluster",
    );
    const expected = ["node-redis@valkey", "ioredis", "iovalkey+same-script", "iovalkey:cluster"];
    expect(references(plan)).toEqual(expected);
    expect(planSchema.parse(plan)).toEqual(plan);
  });

  test("of versions of a store are each client's own on the first: what differs is the version alone", () => {
    const versions = ["--store-versions", "valkey~8.1,valkey~9.1,redis~8.0"];
    const plan = planOf("iovalkey@valkey,ioredis", ...versions);
    expect(references(plan)).toEqual(["iovalkey@valkey~8.1", "ioredis@valkey~8.1"]);
    // With one of each store the clients are compared.
    expect(references(planOf("iovalkey@valkey,ioredis", "--store-versions", "valkey~8.1"))).toEqual(
      ["iovalkey@valkey~8.1"],
    );
  });

  test("with and without TLS each client is compared with itself, in one ranking of its own", () => {
    const clients = "iovalkey@valkey,iovalkey@valkey+tls,ioredis@valkey,ioredis@valkey+tls";
    expect(references(planOf(clients))).toEqual(["iovalkey", "ioredis@valkey"]);
    expect(references(planOf("iovalkey@valkey+tls,ioredis@valkey+tls"))).toEqual(["iovalkey+tls"]);
  });

  test("of versions of Node are each client's own in the first; the limiter layer has no server that could be in one", () => {
    const clients =
      "iovalkey+node-22,iovalkey+node-24,ioredis@valkey+node-22,ioredis@valkey+node-24";
    expect(references(planOf(clients))).toEqual(["iovalkey+node-22", "ioredis@valkey+node-22"]);
    const { skips } = planOf(`iovalkey,${clients}`, "--layer", "limiter");
    expect(skips.map(({ asked }) => asked)).toEqual(clients.split(","));
  });

  test("there are none of targets that are alone, and of controls", () => {
    expect(references(planOf("iovalkey,ioredis,memory,none"))).toEqual([]);
  });

  test("--reference names them by what it says: with the fewest options of those that have it all", () => {
    const clients =
      "valkey-glide,iovalkey+autopipelining,iovalkey,valkey-glide+same-script,iovalkey+same-script";
    expect(references(planOf(clients, "--reference", "iovalkey"))).toEqual([
      "iovalkey",
      "iovalkey+same-script",
    ]);
    expect(references(planOf(clients, "--reference", "iovalkey+autopipelining"))).toEqual([
      "iovalkey+autopipelining",
      "valkey-glide+same-script",
    ]);
  });

  test.each([
    ["ioredis", "iovalkey, valkey-glide"],
    ["iovalkey:cluster", "iovalkey, valkey-glide"],
    ["none", "iovalkey, valkey-glide"],
    ["iovalkey~1.0.0", "iovalkey, valkey-glide"],
    ["$(touch x)", "not of the form"],
  ])("%s is refused where it is not measured", async (text, message) => {
    await expectFailure(
      () => planOf("iovalkey,valkey-glide,none", "--reference", text),
      EXIT.usage,
      message,
    );
  });

  test("one that cannot be measured here is refused with what is left", async () => {
    const request = requestOf(
      "--clients",
      "iovalkey,ioredis@redis",
      "--reference",
      "ioredis@redis",
    );
    await expectFailure(() => makePlan(request, onlyValkey), EXIT.usage, "give one of iovalkey");
  });
});

describe("the plan says what is ranked with what", () => {
  const namesIn = ({ configurations, rankings = [] }: Plan) => {
    const labels = new Map(
      configurations.map((each) => [each.hash, each.configuration.target.label]),
    );
    const labelOf = (hash: string | undefined) =>
      hash === undefined ? undefined : labels.get(hash);
    return rankings.map(({ members, reference, copy, ...others }) => ({
      ...others,
      members: members.map(labelOf),
      reference: labelOf(reference),
      copy: labelOf(copy),
    }));
  };

  test("with the reference, its copy, and how many comparisons are one family; every row is in one ranking", () => {
    const plan = planOf("iovalkey,valkey-glide,ioredis@valkey,none");
    expect(namesIn(plan)).toEqual([
      {
        id: "ranking-1",
        members: ["iovalkey", "iovalkey+copy", "valkey-glide", "ioredis@valkey"],
        reference: "iovalkey",
        copy: "iovalkey+copy",
        family: 2,
      },
      { id: "ranking-2", members: ["none"], reference: undefined, copy: undefined, family: 0 },
    ]);
    expect(planSchema.parse(plan)).toEqual(plan);
  });

  test("what a client is compared with itself in", () => {
    const plan = planOf("iovalkey,iovalkey+tls,ioredis@valkey", "--no-copy");
    expect(namesIn(plan)).toMatchObject([
      {
        members: ["iovalkey", "iovalkey+tls"],
        family: 1,
        client: "iovalkey",
        varies: ["encryption"],
      },
      { members: ["ioredis@valkey"], family: 0, client: "ioredis" },
    ]);
  });

  /** An id of each option that separates rankings. */
  const idOf = ({ id, pattern }: (typeof separating)[number]) =>
    pattern ? id.replace(/<.*>/, "22") : id;

  test.each(separating.map((each) => [idOf(each), each.separates] as const))(
    "+%s separates rankings by its entry in the list of options alone",
    (id, { compares, what }) => {
      const clients = ["iovalkey", `iovalkey+${id}`, "ioredis@valkey", `ioredis@valkey+${id}`];
      const rankings = namesIn(planOf(clients.join(), "--no-copy"));
      const [plain, varied, other, otherVaried] = clients;
      if (compares === "itself")
        expect(rankings).toMatchObject([
          { members: [plain, varied], varies: [what] },
          { members: [other, otherVaried], varies: [what] },
        ]);
      else
        expect(rankings).toMatchObject([
          { members: [plain, other] },
          { members: [varied, otherVaried], conditions: [id] },
        ]);
    },
  );
});

describe("copies", () => {
  const clients = "iovalkey,valkey-glide,ioredis,none";

  test("of each reference from six runs on, that differ in name and hash alone", () => {
    const plan = planOf(clients);
    expect(labels(plan)).toEqual(["iovalkey", "iovalkey+copy", "valkey-glide", "ioredis", "none"]);
    const [original, copy] = plan.configurations;
    expect(copy?.hash).not.toBe(original?.hash);
    const { text, label, options, copy_of, ...same } = copy?.configuration.target ?? {
      text: "",
      label: "",
      options: [],
      copy_of: "",
    };
    const named = {
      text: "iovalkey@valkey:standalone+copy",
      label: "iovalkey+copy",
      options: ["copy"],
    };
    expect({ text, label, options, copy_of }).toEqual({ ...named, copy_of: "iovalkey" });
    expect(original?.configuration).toMatchObject({ ...copy?.configuration, target: same });
    expect(references(plan)).toEqual(["iovalkey"]);
  });

  test("none below six runs, with --no-copy, and at the store layer", () => {
    const copies = (plan: Plan) => labels(plan).filter((label) => label.includes("copy"));
    expect(copies(planFor("--clients", clients, "--runs", "5"))).toEqual([]);
    expect(copies(planOf(clients, "--no-copy"))).toEqual([]);
    expect(copies(makePlan(storeRequest("--runs", "6"), everything))).toEqual([]);
  });

  test("one that is named is not planned twice, and is no reference", () => {
    const plan = planOf("iovalkey+copy,iovalkey,valkey-glide");
    expect(labels(plan)).toEqual(["iovalkey+copy", "iovalkey", "valkey-glide"]);
    expect(references(plan)).toEqual(["iovalkey"]);
  });
});

describe("--reference auto adds a reference to a single target", () => {
  const planBy = (...flags: string[]) =>
    makePlan(
      parsed(["--concurrency", "50", "--order", "turns", "--reference", "auto", ...flags]),
      everything,
    );

  test.each([
    ["iovalkey", "ioredis@valkey"],
    ["ioredis@valkey", "iovalkey"],
    ["ioredis", "node-redis"],
    ["ioredis~5.6.1@valkey", "ioredis@valkey"],
    ["ioredis+autopipelining", "ioredis"],
    ["iovalkey+autopipelining+same-script", "ioredis@valkey+same-script"],
    ["valkey-glide:cluster", "ioredis@valkey:cluster"],
    ["iovalkey+fastify-rate-limit", "ioredis@valkey+fastify-rate-limit"],
  ])("%s: %s", (target, reference) => {
    const plan = planBy("--clients", target);
    expect(labels(plan)).toEqual([target, reference]);
    expect(references(plan)).toEqual([reference]);
    expect(plan).toMatchObject({ order: "turns", reference_added: true });
    expect(plan.notes.join()).toContain(reference);
    expect(planSchema.parse(plan)).toEqual(plan);
  });

  test("at every load, with a copy of the reference", () => {
    const plan = planBy("--clients", "iovalkey", "--concurrency", "10,50", "--runs", "12");
    expect(references(plan)).toEqual(["ioredis@valkey", "ioredis@valkey"]);
    expect(labels(plan).filter((label) => label === "ioredis@valkey+copy")).toHaveLength(2);
  });

  test.each([
    ["two targets", "--clients iovalkey,valkey-glide"],
    ["a reference that is named", "--clients iovalkey --reference iovalkey"],
    ["a control", "--clients none"],
    ["no such client on its store", "--clients memcached"],
    ["planned faults", "--clients iovalkey --fault store-restart"],
    ["instruments alone", "--clients iovalkey --diagnose alone"],
  ])("not with %s", (_what, flags) => {
    const plan = planBy(...flags.split(" "));
    expect(plan).not.toHaveProperty("reference_added");
    expect(new Set(labels(plan))).toEqual(new Set((flags.split(" ")[1] ?? "").split(",")));
  });

  test("without it a single target is measured alone", () => {
    const plan = planFor("--clients", "iovalkey", "--concurrency", "50");
    expect(labels(plan)).toEqual(["iovalkey"]);
    expect(plan.notes).toEqual([]);
  });
});
