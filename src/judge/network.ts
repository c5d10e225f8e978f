import type { RunLink } from "../contract/machines.js";
import type { MeasuredResult, RoleResources } from "../contract/result.js";
import type { MeasuredKind } from "../contract/role.js";

/** In the order in which requests pass them: each talks to the next one that there is. */
const PASSED: readonly MeasuredKind[] = ["generator", "server", "service", "store"];
/** Each talks to one other kind alone, so that its counters are those of that traffic. */
const AT_THE_ENDS: readonly MeasuredKind[] = ["generator", "store"];

interface Carried {
  /** Of its measured rate. */
  share: number;
  bits_per_second: number;
}

/** The busier of two directions: the bytes that each carried, and its rate. Undefined where neither carried any. */
function busier(
  directions: readonly { bytes: number; bits_per_second: number }[],
  loaded_s: number,
): Carried | undefined {
  const [first] = directions
    .map(({ bytes, bits_per_second }) => ({
      share: (8 * bytes) / loaded_s / bits_per_second,
      bits_per_second,
    }))
    .sort((a, b) => b.share - a.share);
  return first && first.share > 0 ? first : undefined;
}

type Placed = Pick<MeasuredResult, "links" | "placement" | "resources">;
type Traffic = NonNullable<RoleResources["network"]>;

interface End {
  machine: string;
  network: Traffic;
}

/**
 * A role's traffic is divided evenly among its peers; what cluster nodes say to each other counts with the rest.
 * @param loaded_s seconds in which bytes were counted @returns nothing for links on which none are known
 */
export function carriedLinks(
  { links = [], placement = {}, resources }: Placed,
  loaded_s: number,
): (Carried & Pick<RunLink, "between">)[] {
  const of = (kind: MeasuredKind) => Object.entries(resources).filter(([, own]) => own.kind === kind);
  const present = PASSED.filter((kind) => of(kind).length > 0);
  const pairs = present.slice(1).flatMap((second, index) => {
    const first = present[index] as MeasuredKind;
    const measured = [first, second].find(
      (kind) => AT_THE_ENDS.includes(kind) && of(kind).every(([, { network }]) => network),
    );
    if (!measured) return [];
    const ends = of(measured).flatMap(([role, { network }]): End[] => {
      const machine = placement[role];
      return network && machine !== undefined ? [{ machine, network }] : [];
    });
    const peers = of(measured === first ? second : first).map(([role]) => placement[role]);
    return [{ ends, peers }];
  });
  return links.flatMap(({ between: [one, other], bits_per_second }) => {
    if (!bits_per_second) return [];
    const carried = { there: 0, back: 0 };
    for (const { ends, peers } of pairs)
      for (const { machine, network } of ends) {
        const shareOn = (name: string) => peers.filter((peer) => peer === name).length / peers.length;
        if (machine === one) {
          carried.there += network.sent_bytes * shareOn(other);
          carried.back += network.received_bytes * shareOn(other);
        } else if (machine === other) {
          carried.there += network.received_bytes * shareOn(one);
          carried.back += network.sent_bytes * shareOn(one);
        }
      }
    const ways = (["there", "back"] as const).map((way) => ({
      bytes: carried[way],
      bits_per_second: bits_per_second[way],
    }));
    const found = busier(ways, loaded_s);
    return found ? [{ between: [one, other] as RunLink["between"], ...found }] : [];
  });
}

/** The share of its best link that each machine carried: where roles share its network, in all. */
export function carriedByMachines(
  { links = [], machine_load = {} }: Pick<MeasuredResult, "links" | "machine_load">,
  loaded_s: number,
): (Carried & { name: string })[] {
  return Object.entries(machine_load).flatMap(([name, { network }]) => {
    const rates = links.flatMap(({ between: [one, other], bits_per_second }) => {
      if (!bits_per_second) return [];
      const { there, back } = bits_per_second;
      if (name === one) return [{ sends: there, receives: back }];
      return name === other ? [{ sends: back, receives: there }] : [];
    });
    if (!network || rates.length === 0) return [];
    const ways = [
      { bytes: network.sent_bytes, bits_per_second: Math.max(...rates.map(({ sends }) => sends)) },
      { bytes: network.received_bytes, bits_per_second: Math.max(...rates.map(({ receives }) => receives)) },
    ];
    const found = busier(ways, loaded_s);
    return found ? [{ name, ...found }] : [];
  });
}
