import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { askDirectly } from "../src/kit/direct-http.js";
import { byTurns, printRatio, rateOf, withServers } from "./groups.js";
import { MeasuredServer, withStore } from "./processes.js";

/**
 * What our server adds: each round starts new processes, one generator gives them the load by
 * turns, and each ratio is the mean of its rounds with its interval of 95 %.
 * - `npm run bench:overhead`: with `none`, against a bare Fastify route with the same payload; the
 *   goal is 1.03. Five
 *   requests of another client make any server of Node 1 to 2 % dearer: one of the bare servers gets them, too, since
 *   ours is read.
 * - `npm run bench:original -- FOLDER…`: against the server of the original project, built in each
 *   of the folders: as it
 *   was published, or with other versions of its clients.
 */
/** Of our build and of the original's. */
const SERVER = "dist/server/index.js";
const { values, positionals } = parseArgs({
  options: { rounds: { type: "string", default: "12" } },
  allowPositionals: true,
});
const rounds = Number(values.rounds);
const [part, ...folders] = positionals;

function refuse(text: string): never {
  process.stderr.write(`${text}\n`);
  process.exit(2);
}
if (!Number.isInteger(rounds) || rounds < 2) refuse("--rounds: give a whole number from 2 on");
if (part === "original" && folders.length === 0)
  refuse(
    "give a checkout of the original project that is built, or several: npm run bench:original -- FOLDER",
  );
for (const folder of folders)
  if (!existsSync(resolve(folder, SERVER))) refuse(`${folder} holds no ${SERVER}: build it first`);

interface Side {
  name: string;
  start(): Promise<MeasuredServer>;
  /** Another client than the generator asks it at each reading. */
  isAsked?: true;
}

const light = { BODY: '{"workload":"light"}', MODE: "none" };
const bare = () => MeasuredServer.start("bench/bare-fastify.mjs", light, "/light");
const ours = () => MeasuredServer.start(SERVER, light, "/light");

/**
 * Prints requests per second, and CPU of the server per request, of the last side over each of the
 * others.
 */
async function compare(sides: readonly Side[]): Promise<void> {
  const logs = sides.map(() => ({ rate: [] as number[], cpu: [] as number[] }));
  for (let round = 0; round < rounds; round++) {
    await withServers(
      sides.map(({ start }) => start),
      async (urls, servers) => {
        const readings: number[][] = [];
        const results = await byTurns(
          urls,
          { CONNECTIONS: "50", DURATION: "3" },
          round,
          async () => {
            for (const [index, url] of urls.entries())
              if (sides[index]?.isAsked) await askDirectly(`${url}/light`, { timeout_ms: 5_000 });
            readings.push(await Promise.all(servers.map((server) => server.cpuUs())));
          },
        );
        const figures = results.map((result, index) => {
          if (!result) throw new Error(`${sides[index]?.name} failed`);
          // The first reading is from before the warm-up, whose requests are not counted.
          const used = (readings.at(-1)?.[index] ?? 0) - (readings[1]?.[index] ?? 0);
          return {
            rate: rateOf(result),
            cpu: used / (result.counts.sent + result.warmup.lead_in.requests),
          };
        });
        const last = figures.at(-1);
        for (const [index, { rate, cpu }] of figures.entries()) {
          logs[index]?.rate.push(Math.log((last?.rate ?? rate) / rate));
          logs[index]?.cpu.push(Math.log((last?.cpu ?? cpu) / cpu));
        }
        process.stderr.write(
          `round ${round + 1}/${rounds}: ${figures.map(({ cpu }) => cpu.toFixed(1)).join(" ")} µs a request\n`,
        );
      },
    );
  }
  for (const [index, { rate, cpu }] of logs.slice(0, -1).entries()) {
    const what = `${sides.at(-1)?.name} ÷ ${sides[index]?.name}`;
    printRatio(`${what}, requests/s`, rate);
    printRatio(`${what}, CPU per request`, cpu);
  }
}

if (part !== "original")
  await compare([
    { name: "bare Fastify", start: bare },
    { name: "bare Fastify that is asked", start: bare, isAsked: true },
    { name: "our server", start: ours },
  ]);
else
  for (const mode of ["ioredis", "iovalkey", "valkey-glide"])
    await compare([
      ...folders.map((folder) => ({
        name: `${folder} with ${mode}`,
        start: () => withStore(resolve(folder, SERVER), mode),
      })),
      { name: "our server", start: () => withStore(SERVER, `${mode}@valkey`) },
    ]);
