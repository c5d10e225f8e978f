import { expect, test } from "vitest";
import { makePlan } from "../../../../src/orchestrator/plan/make-plan.js";
import { requestFromLayers } from "../../../../src/orchestrator/request/parse-request.js";
import { everything, labelsOf, parsed } from "../../../helpers/request.js";

const TWO = ["--app", "before=node a.js --name 'x, y=z'", "--app", "after=node b.js"];

const planOf = (...flags: string[]) =>
  makePlan(parsed([...TWO, "--seed", "1", ...flags]), everything);

test("apps are targets by their names, in one ranking with a copy of the first", () => {
  const plan = planOf();
  expect(labelsOf(plan)).toEqual(["before", "before+copy", "after"]);
  expect(plan.order).toBe("turns");
  const [ranking, ...others] = plan.rankings ?? [];
  expect(others).toEqual([]);
  expect(ranking).toMatchObject({
    reference: plan.configurations[0]?.hash,
    copy: plan.configurations[1]?.hash,
    family: 1,
  });
});

test("--reference names the app with which the others are compared", () => {
  const plan = planOf("--reference", "after");
  expect(plan.rankings?.[0]?.reference).toBe(
    plan.configurations.find(({ configuration }) => configuration.target.label === "after")?.hash,
  );
  expect(() => planOf("--reference", "afer")).toThrow(/afer.*after/);
});

test("a command may hold commas, and its words are those of a shell without expansion", () => {
  const { apps } = parsed(TWO).apps ?? {};
  expect(apps?.map(({ words }) => words)).toEqual([
    ["node", "a.js", "--name", "x, y=z"],
    ["node", "b.js"],
  ]);
  expect(() => parsed(["--app", "a=node a.js --port $PORT"])).toThrow(/takes a shell.*sh -c/);
});

test("a value of a header that may be a credential is in no plan, command or setting", () => {
  const secret = ["--header", "Authorization: Bearer s3cret", "--header=X-Api-Key: {key}"];
  const request = parsed([...TWO, "--path", "/items?user={key}", ...secret]);
  expect(request.apps?.request.headers).toEqual({
    Authorization: "Bearer s3cret",
    "X-Api-Key": "{key}",
  });
  const written = JSON.stringify([makePlan(request, everything), request.record]);
  expect(written).not.toContain("s3cret");
  expect(written).toContain("X-Api-Key: {key}");
  expect(() => parsed([...TWO, "--path", "/items?api_key=s3cret"])).toThrow(/api_key.*--header/);
});

test("a store of its own is part of each target, and its address is in a variable", () => {
  const request = parsed([...TWO, "--app-store", "CACHE=memcached"]);
  expect(request.apps?.store).toEqual({ variable: "CACHE", id: "memcached" });
  const [first] = makePlan(request, everything).configurations;
  expect(first?.configuration.target).toMatchObject({ store: "memcached", topology: "standalone" });
});

test.each([
  [["--clients", "iovalkey"], /--clients/],
  [["--limiter", "none"], /--limiter/],
  [["--layer", "limiter"], /--layer/],
  [["--store-url", "redis://127.0.0.1"], /--store-url/],
  [["--runtime", "docker"], /--runtime local/],
  [["--path", "items"], /--path/],
  [["--path", "/items?user={user}"], /\{user\}/],
  [["--header", "Host: x"], /Host/],
  [["--header", "nonsense"], /Name: value/],
  [["--app-store", "REDIS_URL=mysql"], /valkey/],
  [["--app-store", "PORT=valkey"], /VARIABLE=STORE/],
  [["--app", "before=node c.js"], /before.*own name/],
  [["--app", "iovalkey=node c.js"], /iovalkey/],
  [["--app", "Before!=node c.js"], /NAME=COMMAND/],
  [["--app", "x="], /NAME=COMMAND/],
  [["--url", "x=ftp://a"], /NAME=ADDRESS/],
  [["--url", "x=http://127.0.0.1:1/items"], /--path/],
  [["--url", "x=http://me:s3cret@127.0.0.1:1"], /--header/],
  [["--url", "x=http://127.0.0.1:1", "--app-store", "R=redis"], /--app-store/],
  [["--app", "c=n", "--app", "d=n", "--app", "e=n"], /at most 4/],
])("with two apps %j is refused in one line", (flags, message) => {
  expect(() => parsed([...TWO, ...flags])).toThrow(message);
});

/** An app as it was written, with what it is. */
const WRITTEN = [
  ["my-api:1.2", "my-api:1.2", []],
  ["image:my-api", "my-api", []],
  ["image:image:1.2", "image:1.2", []],
  ["ghcr.io:5000/org/my_api:v1", "ghcr.io:5000/org/my_api:v1", []],
  [`my-api@sha256:${"a".repeat(64)}`, `my-api@sha256:${"a".repeat(64)}`, []],
  ["image:my-api:1.2 node 'b c.js' {port}", "my-api:1.2", ["node", "b c.js", "{port}"]],
  ["./my-api:1.2", undefined, ["./my-api:1.2"]],
  ["my-api", undefined, ["my-api"]],
  ["my-api:1.2 --fast", undefined, ["my-api:1.2", "--fast"]],
  ["My-Api:1.2", undefined, ["My-Api:1.2"]],
] as const;

test.each(WRITTEN)("the app %j is the image %j, or a command", (written, image, words) => {
  const [app] = parsed(["--app", `one=${written}`]).apps?.apps ?? [];
  expect([app?.command, app?.image, app?.words]).toEqual([written, image, words]);
});

test("images run on an engine, which auto looks for; commands run on this machine", () => {
  const placeOf = (...flags: string[]) => parsed(["--app", "one=my-api:1.2", ...flags]).place;
  expect(placeOf()).toMatchObject({ runtime: "auto", needsContainers: true });
  expect(placeOf("--runtime", "podman")).toMatchObject({ runtime: "podman" });
  expect(parsed(TWO).place).toMatchObject({ runtime: "local" });
  expect(parsed(TWO).place.needsContainers).toBeUndefined();
});

test.each([
  [["--runtime", "local"], /--runtime local.*one is an image.*docker or podman/],
  [["--runtime", "kubernetes"], /--runtime kubernetes.*docker or podman/],
  [["--app", "two=node b.js"], /one is the image my-api:1\.2, but two is a command/],
  [["--url", "two=http://127.0.0.1:3000"], /two already runs/],
  [["--app", "two=image:My-Api"], /image:my-api:1\.2/],
])("with an image %j is refused in one line", (flags, message) => {
  expect(() => parsed(["--app", "one=my-api:1.2", ...flags])).toThrow(message);
});

test("flags about apps need one", () => {
  expect(() => parsed(["--clients", "iovalkey", "--path", "/"])).toThrow(/--path.*--app/);
});

test("traffic that is about our own limiters measures no app", () => {
  for (const traffic of ["realistic", "mixed10", "denied"])
    expect(() => planOf("--traffic", traffic)).toThrow(/--traffic allowed/);
  expect(planOf("--traffic", "hot").configurations[0]?.configuration.traffic).toBe("hot");
});

test("a campaign with apps is repeated from its recorded settings, in any folder", () => {
  const request = parsed([...TWO, "--seed", "1"]);
  const layer = new Map(
    Object.entries(request.record.settings).map(([key, value]) => [key, { source: key, value }]),
  );
  const repeated = requestFromLayers([layer], () => "", []);
  expect(repeated.apps).toEqual(request.apps);
  expect(makePlan(repeated, everything)).toEqual(makePlan(request, everything));
});

test("a server that already runs is ranked with those that are started, and the plan says so", () => {
  const plan = planOf("--url", "now=http://127.0.0.1:3000");
  expect(plan.rankings).toHaveLength(1);
  const running = plan.configurations.find(({ configuration }) => configuration.external_server);
  expect(running?.configuration.target.label).toBe("now");
  expect(plan.notes.filter((note) => note.startsWith("now already runs"))).toHaveLength(1);
  expect(parsed([...TWO, "--url", "now=http://127.0.0.1:3000"]).start.planFirst).toBeUndefined();
  expect(parsed(["--url", "now=https://example.org"]).start.planFirst).toBe(true);
});
