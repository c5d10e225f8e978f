import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { TestCluster } from "../../helpers/cluster.js";
import { TestStore } from "../../helpers/store.js";
import { removeGlideSockets } from "../../suites/open-target.js";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

interface Finding {
  title: string;
  program: string;
  printed: string;
}

/** Each heading of the page that names a program, and what it prints. */
function findings(): Finding[] {
  const page = readFileSync(`${ROOT}docs/findings.md`, "utf8");
  return page
    .split(/^### /m)
    .slice(1)
    .map((part) => ({
      title: part.slice(0, part.indexOf("\n")),
      program: `docs/${/\]\((\S+\.mjs)\)/.exec(part)?.[1]}`,
      printed: /^```text\n(.*?)^```$/ms.exec(part)?.[1] ?? "",
    }));
}

/** Runs a program as the page says, and removes what glide leaves of that process. */
async function run(program: string, environment: Record<string, string>): Promise<string> {
  const child = spawn(process.execPath, [program], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (text) => {
      output += text;
    });
  }
  await new Promise((resolve) => child.once("close", resolve));
  removeGlideSockets(child.pid ?? 0);
  return output;
}

let store: TestStore;
let cluster: TestCluster;
beforeAll(async () => {
  store = await TestStore.start();
  cluster = await TestCluster.start();
});
afterAll(async () => {
  await store?.stop();
  await cluster?.stop();
});

test.each(findings())("$title", async ({ program, printed }) => {
  expect(printed).not.toBe("");
  await store.ask((connection) => connection.flushall());
  const ports = { PORT: String(store.port), CLUSTER_PORT: String(cluster.nodes[0]?.port) };
  expect(await run(program, ports)).toBe(printed);
});
