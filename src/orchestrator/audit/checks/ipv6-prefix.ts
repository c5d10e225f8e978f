import type { RequestGroup } from "../../../contract/sender.js";
import { findLimiter } from "../../../targets/resolve.js";
import type { AuditedSystem } from "../audited-system.js";
import { type Check, type CheckOutcome, outcomeOf, rangeText } from "../check.js";
import { admittedRanges, type Range } from "../expected.js";

/** The requests of a burst, in quotas. Each comes from another address. */
const QUOTAS = 2;

/** How many requests of a burst were admitted, and how many one client gets. */
type Burst = Range & { seen: number };

/**
 * The outcome of the check by the prefix that counts as one client.
 * @param hops bursts through the addresses of a /64, and through the /64s of a /56
 * @param neighbours bursts from two /56, which are two clients
 */
export function prefixOutcome(
  hops: { in64: Burst; in56: Burst },
  neighbours: readonly Burst[],
): CheckOutcome {
  const isOneClient = ({ seen, most }: Burst) => seen <= most;
  const { in64, in56 } = hops;
  const merged = neighbours.filter(({ seen, least }) => seen < least);
  const prefix = () => {
    if (merged.length > 0) return "wider than /56";
    if (!isOneClient(in64)) return "not at all";
    return isOneClient(in56) ? "/56" : "/64";
  };

  const fromNeighbours = neighbours.map(({ seen }) => seen).join(" and ");
  const outcome = outcomeOf(
    isOneClient(in64) && merged.length === 0,
    `${rangeText(in64)} from all addresses of a /64, as many from each /56`,
    prefix(),
    [`${in64.seen} from a /64, ${in56.seen} from a /56, ${fromNeighbours} from two`],
  );
  return { ...outcome, admissions: in64 };
}

/** An address of a user's subnet, which is a /48. */
const address = (subnet: number, network: number, host: number): string =>
  `2001:db8:${subnet.toString(16)}:${network.toString(16)}::${host.toString(16)}`;

async function burstFrom(system: AuditedSystem, groups: string[][], tries = 3): Promise<Burst[]> {
  const count = QUOTAS * system.limits.points;
  const answers = await system.send(
    groups.map((addresses): RequestGroup => ({ after_ms: 0, keys: [], count, addresses })),
  );
  answers.requireDecided();
  if (system.metEdge(answers) && tries > 1) return burstFrom(system, groups, tries - 1);
  return groups.map((_, group) => {
    const { burst, admitted } = answers.ofGroup(group);
    const ranges = admittedRanges(system.algorithm, system.limits, [burst]);
    const [range = { least: 0, most: 0 }] = ranges;
    return { seen: admitted, ...range };
  });
}

export const ipv6Prefix: Check = {
  id: "ipv6-prefix",
  title: "IPv6 prefix",
  promise: "A client that hops through the addresses of its /64 gets one quota.",
  matters: "A subscriber has a /64 at least, often a /56: one quota an address is no limit for it.",
  servers: [{ by_address: true }],
  unsupportedReason: ({ limiter }) =>
    findLimiter(limiter).framework === undefined
      ? "its caller makes the keys of clients"
      : undefined,
  async run(system) {
    const hosts = Array.from({ length: QUOTAS * system.limits.points }, (_, n) => n);
    const groups = [
      hosts.map((host) => address(1, 0, host + 1)),
      hosts.map((network) => address(2, network, 1)),
      [address(3, 0, 1)],
      [address(3, 0x100, 1)],
    ];
    const [in64, in56, ...neighbours] = await burstFrom(system, groups);
    if (!in64 || !in56) throw new Error("a burst is missing");
    return prefixOutcome({ in64, in56 }, neighbours);
  },
};
