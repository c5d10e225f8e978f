import { environmentError } from "../../contract/errors.js";
import type { DockerHost, PlacedKind } from "../../contract/machines.js";
import { ownPart } from "../own-programs.js";
import type { RunningPart } from "../types.js";
import type { ContainerHost } from "./host.js";

/** Once told to, listens on a free port of an address, whose number it prints, until its input ends. */
const LISTEN = `
const server = require("node:net").createServer((socket) => socket.destroy());
server.on("error", (error) => console.log(error.message));
process.stdin.on("end", () => process.exit());
process.stdin.once("data", () => server.listen(15000 + Math.floor(Math.random() * 17000), process.argv[1], () => console.log(server.address().port)));`;

/** Prints why it cannot connect; nothing where it can. */
const CONNECT = `
const [host, port] = process.argv.slice(1);
const socket = require("node:net").connect({ host, port });
socket.setTimeout(5000, () => socket.destroy(new Error("no answer within 5 s")));
socket.on("connect", () => process.exit());
socket.on("error", (error) => process.stdout.write(error.message, () => process.exit()));`;

/** Which kinds connect to which. */
const CALLERS: Partial<Record<PlacedKind, readonly PlacedKind[]>> = {
  store: ["server", "store"],
  server: ["generator"],
};

/** Checks that the machines reach each other as needed. @throws environmentError that names both */
export async function requireReachable(hosts: readonly ContainerHost[]): Promise<void> {
  const withSpecs = hosts.flatMap((host) => (host.spec ? [{ host, spec: host.spec }] : []));
  for (const { host, spec } of withSpecs) {
    const kinds = spec.roles.flatMap((kind) => CALLERS[kind] ?? []);
    const callers = withSpecs.filter(
      (other) => other.host !== host && other.spec.roles.some((kind) => kinds.includes(kind)),
    );
    if (callers.length > 0) await requireReachableFrom(host, spec, callers);
  }
}

async function requireReachableFrom(
  host: ContainerHost,
  { name, address }: DockerHost,
  callers: readonly { host: ContainerHost; spec: DockerHost }[],
): Promise<void> {
  let listener: RunningPart | undefined;
  try {
    listener = await host.start(
      ownPart("listener", "server", { interactive: true, arguments: () => ["-e", LISTEN, address] }),
      async () => {},
    );
    const port = await listener.ask?.("listen");
    if (!/^\d+$/.test(port ?? ""))
      throw environmentError(
        `nothing can listen on ${address} on ${name} (${port ?? "no answer"}): give an address that this machine itself has`,
      );
    for (const caller of callers) {
      const reason = await caller.host.printedBy("server", ["node", "-e", CONNECT, address, port ?? ""]);
      if (reason)
        throw environmentError(
          `${caller.spec.name} cannot reach ${name} at ${address} (${reason}): correct its address, or let ports 15000 to 32000 through its firewall`,
        );
    }
  } finally {
    await listener?.stop();
  }
}
