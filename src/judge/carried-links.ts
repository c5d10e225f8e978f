import type { MachineLink } from "../contract/machines.js";
import type { MeasuredResult } from "../contract/result.js";
import type { MeasuredKind } from "../contract/role.js";
import type { NetworkBytes } from "../kit/network-links.js";
import { rolesOf } from "./evidence.js";

/**
 * The kinds of roles in the order in which requests pass them. Each talks to the next present one.
 */
export const PASSED: readonly MeasuredKind[] = ["generator", "server", "service", "store"];
/** Kinds that talk to one other kind alone, so that their counters are those of that connection. */
const AT_THE_ENDS: readonly MeasuredKind[] = ["generator", "store"];

/** The share of its measured rate that a direction of a link carried. */
type CarriedShare = { share: number; bits_per_second: number };

/** The busier of two directions, or undefined where neither carried anything. */
function busierDirection(
  directions: readonly { bytes: number; bits_per_second: number }[],
  loaded_s: number,
): CarriedShare | undefined {
  const shareOf = (bytes: number, bits_per_second: number) =>
    (8 * bytes) / loaded_s / bits_per_second;
  const [busiest] = directions
    .map(({ bytes, bits_per_second: rate }) => ({
      share: shareOf(bytes, rate),
      bits_per_second: rate,
    }))
    .sort((a, b) => b.share - a.share);
  return busiest && busiest.share > 0 ? busiest : undefined;
}

type Placed = Pick<MeasuredResult, "links" | "placement" | "resources">;
type End = { machine: string; network: NetworkBytes };

/** Roles whose bytes are counted, and the machines of the roles that they talk to. */
interface TalkingPair {
  ends: End[];
  peers: (string | undefined)[];
}

/**
 * Each kind of roles with the next one that requests pass, where one of both counts its
 * bytes.
 */
function talkingPairs({ placement = {}, resources }: Placed): TalkingPair[] {
  const rolesOfKind = (kind: MeasuredKind) => rolesOf({ resources }, kind);
  const present = PASSED.filter((kind) => rolesOfKind(kind).length > 0);

  return present.slice(1).flatMap((second, index) => {
    const first = present[index] as MeasuredKind;
    const counted = [first, second].find(
      (kind) => AT_THE_ENDS.includes(kind) && rolesOfKind(kind).every(([, { network }]) => network),
    );
    if (!counted) return [];

    const ends = rolesOfKind(counted).flatMap(([role, { network }]): End[] => {
      const machine = placement[role];
      return network && machine !== undefined ? [{ machine, network }] : [];
    });
    const peerKind = counted === first ? second : first;
    const peers = rolesOfKind(peerKind).map(([role]) => placement[role]);
    return [{ ends, peers }];
  });
}

/** The bytes between two machines, in both directions. */
function bytesBetweenMachines(
  [near, far]: MachineLink["between"],
  pairs: readonly TalkingPair[],
): { there: number; back: number } {
  const carried = { there: 0, back: 0 };
  for (const { ends, peers } of pairs) {
    const shareOn = (name: string) => peers.filter((peer) => peer === name).length / peers.length;
    for (const { machine, network } of ends) {
      if (machine === near) {
        carried.there += network.sent_bytes * shareOn(far);
        carried.back += network.received_bytes * shareOn(far);
      } else if (machine === far) {
        carried.there += network.received_bytes * shareOn(near);
        carried.back += network.sent_bytes * shareOn(near);
      }
    }
  }
  return carried;
}

/**
 * The links between machines, with the share of their rate that they carried. A role's
 * bytes are divided evenly among its peers, and what the nodes of a cluster say to each other counts
 * with the rest.
 * @param loaded_s seconds in which bytes were counted
 * @returns nothing for links without a rate or without bytes
 */
export function carriedLinks(
  placed: Placed,
  loaded_s: number,
): (CarriedShare & Pick<MachineLink, "between">)[] {
  const pairs = talkingPairs(placed);
  return (placed.links ?? []).flatMap(({ between, bits_per_second }) => {
    if (!bits_per_second) return [];

    const carried = bytesBetweenMachines(between, pairs);
    const directions = (["there", "back"] as const).map((direction) => ({
      bytes: carried[direction],
      bits_per_second: bits_per_second[direction],
    }));
    const busiest = busierDirection(directions, loaded_s);
    return busiest ? [{ between, ...busiest }] : [];
  });
}

/** The share of its fastest link that the whole network of each machine carried. */
export function carriedByMachines(
  { links = [], machine_load = {} }: Pick<MeasuredResult, "links" | "machine_load">,
  loaded_s: number,
): (CarriedShare & { name: string })[] {
  return Object.entries(machine_load).flatMap(([name, { network }]) => {
    const rates = links.flatMap(({ between: [near, far], bits_per_second }) => {
      if (!bits_per_second) return [];
      const { there, back } = bits_per_second;
      if (name === near) return [{ sends: there, receives: back }];
      return name === far ? [{ sends: back, receives: there }] : [];
    });
    if (!network || rates.length === 0) return [];

    const directions = [
      { bytes: network.sent_bytes, bits_per_second: Math.max(...rates.map(({ sends }) => sends)) },
      {
        bytes: network.received_bytes,
        bits_per_second: Math.max(...rates.map(({ receives }) => receives)),
      },
    ];
    const busiest = busierDirection(directions, loaded_s);

    return busiest ? [{ name, ...busiest }] : [];
  });
}
