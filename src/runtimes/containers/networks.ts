import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type Docker from "dockerode";
import { definedOnly } from "../../kit/defined-only.js";
import { environmentError, messageOf } from "../../kit/errors.js";
import type { Part, PartAllocation } from "../runtime-types.js";
import { namedPorts, PORT, SECOND_PORT } from "./container-options.js";

const BITS = 32;

const numberOf = (address: string): number =>
  address.split(".").reduce((total, byte) => total * 256 + Number(byte), 0);
const textOf = (address: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");

/** The place of the first address for parts. The engine uses earlier ones, e.g. for its gateway. */
const FIRST = 10;

/** The addresses of a network that parts can have. */
export class Addresses {
  readonly #first: number;
  readonly #count: number;
  readonly #used = new Set<string>();
  #next = 0;

  /**
   * @param subnet a subnet such as `172.18.0.0/16`
   * @throws Error for a subnet that is not IPv4, or has no room
   */
  constructor(subnet: string) {
    const [base = "", prefix = ""] = subnet.split("/");
    this.#first = numberOf(base) + FIRST;
    // The last address is that of the broadcast.
    this.#count = 2 ** (BITS - Number(prefix)) - FIRST - 1;
    if (!Number.isInteger(this.#first) || !(this.#count > 0))
      throw new Error(`no addresses in ${subnet}`);
  }

  /** An address that no part has. It is not the last one given back, which others may remember. */
  take(): string {
    for (let attempt = 0; attempt < this.#count; attempt++) {
      const address = textOf(this.#first + this.#next);
      this.#next = (this.#next + 1) % this.#count;
      if (this.#used.has(address)) continue;
      this.#used.add(address);
      return address;
    }
    throw new Error("the network has no address left");
  }

  giveBack(address: string): void {
    this.#used.delete(address);
  }
}

/** The pause before another try to remove a network that the engine still takes for used. */
const NETWORK_RETRY_MS = 1_000;

/** The name of the network in which parts share that of their machine. */
export const HOST_NETWORK = "host";

/** The address on which a part listens, and by which the others reach it. */
type PartAddress = Pick<PartAllocation, "host" | "bind" | "port" | "secondPort" | "ports">;

export interface NetworkPlace {
  network: string;
  endpoint?: Docker.EndpointSettings;
  address: PartAddress;
  /** The link that cuts a part off, and connects it again at the same address; absent without one. */
  link?: Pick<Docker.Network, "connect" | "disconnect">;
  release(): void;
}

export interface PartNetwork {
  /** A sentence on what the network does to every run; absent where it does nothing. */
  condition?: string;
  /** Why a part cannot get its address again after it was cut off or killed; absent where it can. */
  losesAddress?: string;
  /** Why a part cannot be cut off; absent where it can. */
  staysConnected?: string;
  place(part: Part): Promise<NetworkPlace>;
  /** The place of a container that listens nowhere; absent where it is a place like any other. */
  idlePlace?(): Promise<NetworkPlace>;
  /** Removes the network; absent where there is nothing to remove. @throws Error where it cannot */
  close?(): Promise<void>;
}

/** The address of a part with the ports that all parts have. */
const commonAddress = (host: string, { ports }: Part): PartAddress => ({
  host,
  bind: "0.0.0.0",
  port: PORT,
  secondPort: SECOND_PORT,
  ports: namedPorts(ports),
});

interface OpenNetwork {
  network: Docker.Network;
  /** The addresses that parts keep; absent where the engine gives them. */
  addresses?: Addresses;
}

/** The name of a part among all parts that are up. */
const aliasOf = ({ run, role }: Part): string => (run === undefined ? role : `${run}-${role}`);

/** A network for this campaign alone, on one engine. It is made with the first part. */
export function ownNetwork(
  docker: Docker,
  name: string,
  labels: Readonly<Record<string, string>>,
  keepsAddresses: boolean,
): PartNetwork {
  let opened: Promise<OpenNetwork> | undefined;
  const create = async (): Promise<OpenNetwork> => {
    const options = { Name: name, Driver: "bridge", CheckDuplicate: true, Labels: { ...labels } };
    const network = await docker.createNetwork(options);
    if (!keepsAddresses) return { network };
    // An engine gives fixed addresses only in a subnet that was requested. The subnet that it has
    // just found to be free is requested.
    const { IPAM } = await network.inspect().finally(() => network.remove());
    const subnet = IPAM?.Config?.find(({ Subnet }) => Subnet?.includes("."))?.Subnet;
    if (!subnet) throw new Error("the engine does not tell the subnet of a network");
    const fixedOptions = { ...options, IPAM: { Driver: "default", Config: [{ Subnet: subnet }] } };
    return { network: await docker.createNetwork(fixedOptions), addresses: new Addresses(subnet) };
  };
  return {
    async place(part) {
      opened ??= create().catch((error) => {
        throw environmentError(
          `no network can be made: ${messageOf(error)}; scripts/fix-network.sh finds leftover networks of this project`,
          { cause: error },
        );
      });
      const { network, addresses } = await opened;
      const address = addresses?.take();
      const IPAMConfig = address === undefined ? undefined : { IPv4Address: address };
      return {
        network: network.id,
        endpoint: definedOnly({ Aliases: [aliasOf(part)], IPAMConfig }),
        address: commonAddress(aliasOf(part), part),
        link: network,
        release: () => address !== undefined && addresses?.giveBack(address),
      };
    },
    async close() {
      const { network } = (await opened?.catch(() => undefined)) ?? {};
      await network?.remove().catch(async () => {
        // The engine may not have released the endpoint of a removed container yet.
        await sleep(NETWORK_RETRY_MS);
        await network.remove().catch((error) => {
          throw new Error(`${name}: ${messageOf(error)}`, { cause: error });
        });
      });
    },
  };
}

/**
 * The network of a machine, in which parts differ by their ports. Whoever reaches the machine reaches
 * its parts.
 * @param host the address by which the other machines reach this one
 * @param findPorts finds some free ports there
 */
export function machineNetwork(host: string, findPorts: () => Promise<number[]>): PartNetwork {
  const free: number[] = [];
  const used = new Set<number>();
  /** The last search of a queue, because only one search takes place at a time. */
  let pending: Promise<unknown> = Promise.resolve();
  const take = (count: number): Promise<number[]> => {
    const search = pending.then(async () => {
      while (free.length < count) {
        const candidates = await findPorts();
        free.push(...candidates.filter((port) => !used.has(port) && !free.includes(port)));
      }
      const ports = free.splice(0, count);
      for (const port of ports) used.add(port);
      return ports;
    });
    pending = search.catch(() => {});
    return search;
  };
  return {
    condition:
      "the parts use the networks of their machines: whoever reaches an address of the hosts file reaches them",
    staysConnected:
      "a part in the network of its machine cannot be cut off: use an overlay network",
    async place({ ports: names = [] }) {
      const [port = 0, secondPort = 0, ...others] = await take(2 + names.length);
      const ports = Object.fromEntries(names.map((name, index) => [name, others[index] ?? 0]));
      return {
        network: HOST_NETWORK,
        address: { host, bind: host, port, secondPort, ports },
        release: () => {
          for (const freed of [port, secondPort, ...others]) used.delete(freed);
        },
      };
    },
    async idlePlace() {
      const address = { host, bind: host, port: 0, secondPort: 0, ports: {} };
      return { network: HOST_NETWORK, address, release: () => {} };
    },
  };
}

const LOSES_ADDRESS = "a part gets another address in a network that is not the campaign's own";

export function overlayNetwork(network: string): PartNetwork {
  /** A suffix that tells parts from those of other campaigns in the same network. */
  const suffix = randomBytes(3).toString("hex");
  return {
    condition: `the parts reach each other through the overlay network ${network}`,
    losesAddress: LOSES_ADDRESS,
    staysConnected: LOSES_ADDRESS,
    async place(part) {
      const name = `${part.role}-${suffix}`;
      return {
        network,
        endpoint: { Aliases: [name] },
        address: commonAddress(name, part),
        release: () => {},
      };
    },
  };
}
