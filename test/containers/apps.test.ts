import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Campaign } from "../helpers/campaign.js";
import { added, everything, tryDocker } from "../helpers/engine.js";
import { temporaryFolders } from "../helpers/folders.js";

const newFolder = temporaryFolders();

/** An app that needs its store, and answers what it has of its image: user, folder and variable. */
const APP = `
const store = new URL(process.env.CACHE);
const body = JSON.stringify([process.getuid(), process.cwd(), process.env.NODE_ENV]);
require("node:net").connect(store.port, store.hostname, () =>
  require("node:http")
    .createServer((request, response) => {
      const isOurs = body === '[1000,"/home/node","staging"]';
      response.statusCode = isOurs && request.headers["x-api-key"] ? 200 : 500;
      response.end(body);
    })
    .listen(process.env.PORT),
);
`;

function imageOfApp(): string {
  const name = "ratelimit-bench-test-app:1";
  const lines = [
    "FROM node:24-trixie-slim",
    "ENV NODE_ENV=staging",
    "USER node",
    "WORKDIR /home/node",
    `CMD ${JSON.stringify(["node", "-e", APP])}`,
  ];
  const built = spawnSync("docker", ["build", "--tag", name, "-"], {
    input: lines.join("\n"),
    encoding: "utf8",
  });
  expect(built.status, built.stderr).toBe(0);
  onTestFinished(() => void tryDocker("image", "rm", name));
  return name;
}

test("an app from an image is as its image says, with a store, capped and removed at the end", async () => {
  const image = imageOfApp();
  const before = everything();
  const app = ["--app", `one=${image}`, "--app-store", "CACHE=valkey", "--runtime", "docker"];
  const request = ["--header", "X-Api-Key: {key}", "--server-cpus", "1"];
  const short = ["--runs", "1", "--duration-mode", "custom:1", "--warmup", "0.2", "--no-copy"];
  const home = newFolder();
  const output = ["--output", join(home, "results root")];
  const campaign = Campaign.command(home, ["run", ...app, ...request, ...short, ...output]);
  await campaign.ends();

  expect(added(before)).toEqual([]);
  const [result] = campaign.measured;
  expect(result?.outcome).toBe("served");
  expect(result?.verdict.status).not.toBe("invalid");
  expect(result?.runtime?.caps?.server?.cpus).toBe(1);
  expect(result?.resources["server-1"]?.cpu_us_per_request).toBeGreaterThan(0);
  expect(campaign.manifest.images?.["app.one"]).toMatchObject({ name: image });
  expect(campaign.manifest.apps?.one).toEqual({ command: image });
});
