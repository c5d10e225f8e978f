import { canonicalJson } from "../../contract/configuration.js";
import { type Diagnosis, processDiagnosisSchema } from "../../contract/diagnosis.js";
import type { AddressedServer } from "../../contract/run-spec.js";
import { type Health, healthSchema, type Usage, usageSchema } from "../../contract/server-api.js";
import { fitted } from "../../kit/answers.js";
import { definedOnly } from "../../kit/defined-only.js";
import { askDirectly } from "../../kit/direct-http.js";
import { BenchError, EXIT, environmentError, messageOf } from "../../kit/errors.js";
import type { Consumers } from "./consumers.js";

const TIMEOUT_MS = 5_000;
/**
 * The first reading may take this long, because many generators that start at once leave the server
 * little CPU time.
 */
const FIRST_TIMEOUT_MS = 30_000;

async function getJson(url: string, timeout_ms = TIMEOUT_MS): Promise<unknown> {
  const { status, text } = await askDirectly(url, { timeout_ms });
  return status === 200 ? JSON.parse(text) : undefined;
}

/**
 * Why a request failed, in one line; a refused connection to several addresses has no
 * message.
 */
const reasonOf = (error: unknown): string =>
  messageOf(error).split("\n")[0] || "connection refused";

async function identifyServer({ url, run_nonce }: AddressedServer): Promise<Health | undefined> {
  let body: unknown;
  try {
    body = await getJson(`${url}/healthz`, FIRST_TIMEOUT_MS);
  } catch (error) {
    // A foreign server may answer with something other than JSON.
    if (!(error instanceof SyntaxError))
      throw environmentError(`nothing answers at ${url}: ${reasonOf(error)}`);
  }

  const health = healthSchema.safeParse(body);
  if (run_nonce !== "" && health.data?.run_nonce !== run_nonce) {
    const who = health.success ? "a server of another run" : "something that is not our server";
    throw environmentError(`${url} is ${who}: another program has taken the port`);
  }

  return health.data;
}

/** What must be the same on all servers of a run, by its name in messages. */
const common: readonly (readonly [name: string, textOf: (health: Health) => string])[] = [
  ["target", ({ target }) => canonicalJson(target.text)],
  ["limits", ({ limits }) => canonicalJson(limits ?? null)],
  ["versions", ({ versions }) => canonicalJson(versions)],
];

/**
 * Identifies all servers.
 * @returns undefined for servers that are not ours
 * @throws environmentError when one differs from the others
 */
export async function identifyServers(
  servers: readonly AddressedServer[],
): Promise<Consumers | undefined> {
  // Whatever is asked of an app that is not ours counts in what it measures or limits itself.
  if (servers.some(({ foreign }) => foreign)) return undefined;
  const identified = await Promise.all(
    servers.map(async (server) => ({ server, health: await identifyServer(server) })),
  );
  const first = identified[0]?.health;

  for (const { server, health } of identified) {
    if (!health !== !first)
      throw environmentError(
        `${servers[0]?.url} and ${server.url} are not servers of the same kind`,
      );
    if (!health || !first) continue;
    const differing = common.find(([, textOf]) => textOf(health) !== textOf(first));
    if (!differing) continue;
    const [name, textOf] = differing;
    throw environmentError(
      `the servers differ: ${servers[0]?.url} has the ${name} ${textOf(first)}, ${server.url} ${textOf(health)}`,
    );
  }

  if (!first) return undefined;

  return definedOnly({
    kind: "server" as const,
    identities: identified.flatMap(({ server, health }) =>
      health
        ? definedOnly({
            id: server.id,
            run_nonce: health.run_nonce,
            target: health.target.text,
            workloads: health.workloads,
            limiter_script: health.limiter_script,
            client_settings: health.client_settings,
            plugins: health.plugins,
          })
        : [],
    ),
    versions: first.versions,
    limits: first.limits,
    algorithm: first.target.algorithm,
    read: () => Promise.all(servers.map(({ url }) => readUsage(url))),
  });
}

/**
 * @throws BenchError when our server, which answered before, does not give its counters any more
 */
export async function readUsage(base: string): Promise<Usage> {
  try {
    return fitted(usageSchema, await getJson(`${base}/usage`));
  } catch (error) {
    const text = `the server at ${base} gives no counters any more: ${reasonOf(error)}`;
    throw new BenchError(text, EXIT.configurationFailed, { cause: error });
  }
}

/**
 * Reads what the instruments of each server saw since the last call.
 * @throws BenchError for a server without instruments
 */
export async function readDiagnoses(
  servers: readonly Pick<AddressedServer, "id" | "url">[],
): Promise<Diagnosis["servers"]> {
  const diagnoses = servers.map(async ({ id, url }) => {
    try {
      return [id, fitted(processDiagnosisSchema, await getJson(`${url}/diagnosis`))] as const;
    } catch (error) {
      const text = `the server at ${url} gives no diagnosis: ${reasonOf(error)}`;
      throw new BenchError(text, EXIT.configurationFailed, { cause: error });
    }
  });
  return Object.fromEntries(await Promise.all(diagnoses));
}

export const cpuUs = (usage: Pick<Usage, "cpu_user_us" | "cpu_system_us">): number =>
  usage.cpu_user_us + usage.cpu_system_us;
