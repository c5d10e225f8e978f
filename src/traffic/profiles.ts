import { boundary } from "./boundary-traffic.js";
import { evenShares, GENEROUS, user, zipfPopulation } from "./population.js";
import { type Descriptors, FRESH_KEY, type TrafficProfile } from "./traffic-types.js";

const USERS = 10_000;
const HOT_USERS = USERS / 5;
const KNOWN_USERS = 1_000;

const users = (count: number): Descriptors[] =>
  Array.from({ length: count }, (_, rank) => user(rank));

/**
 * Returns a request whose descriptors are half fixed, the same in all requests, and half never seen
 * again.
 * @param perClass how many descriptors each half has
 */
function mixedDescriptors(perClass: number): Descriptors {
  const fixed = Array.from({ length: perClass - 1 }, (_, index) => `fixed-${index + 1}`);
  const fresh = Array.from({ length: perClass }, () => FRESH_KEY);
  return ["fixed-0", ...fixed, ...fresh];
}

/** The profiles whose quota no run can use up. */
const generous: readonly Omit<TrafficProfile, "limits">[] = [
  {
    id: "realistic",
    summary:
      "10 000 users by Zipf's law; 10 % of the requests come from users whose quota is used up",
    population: () => zipfPopulation(9_000, 1_000, 0.1),
  },
  {
    id: "fixed",
    summary:
      "one key for all requests, all admitted (with --points N: N a window, the rest limited)",
    population: () => ({ requests: [user(0)], shares: Float64Array.of(1) }),
  },
  {
    id: "allowed",
    summary: "10 000 users by Zipf's law, all admitted",
    population: () => zipfPopulation(10_000, 0, 0),
  },
  {
    id: "denied",
    summary: "10 000 users by Zipf's law, all of whom have used up their quota",
    population: () => zipfPopulation(0, 10_000, 1),
  },
  {
    id: "variable",
    summary: "each request on a key of its own, all admitted",
    population: () => ({ requests: [[FRESH_KEY]], shares: Float64Array.of(1) }),
  },
  {
    id: "mixed2",
    summary: "2 descriptors a request, 1 fixed and 1 never seen before, all admitted",
    population: () => ({ requests: [mixedDescriptors(1)], shares: Float64Array.of(1) }),
  },
  {
    id: "mixed10",
    summary: "10 descriptors a request, 5 fixed and 5 never seen before, all admitted",
    population: () => ({ requests: [mixedDescriptors(5)], shares: Float64Array.of(1) }),
  },
  {
    id: "sequential",
    summary: "10 000 users one after the other, round and round, all admitted",
    order: "sequential",
    population: () => ({ requests: users(USERS), shares: evenShares(USERS, 1) }),
  },
  {
    id: "random",
    summary: "10 000 users, each as likely as any other, all admitted",
    population: () => ({ requests: users(USERS), shares: evenShares(USERS, 1) }),
  },
  {
    id: "hot",
    summary: "10 000 users; 80 % of the requests come from 20 % of them, all admitted",
    population: () => ({
      requests: users(USERS),
      shares: Float64Array.from([
        ...evenShares(HOT_USERS, 0.8),
        ...evenShares(USERS - HOT_USERS, 0.2),
      ]),
    }),
  },
  {
    id: "sparse",
    summary:
      "90 % of the requests on keys never seen before, the rest on 1 000 users, all admitted",
    population: () => ({
      requests: [[FRESH_KEY], ...users(KNOWN_USERS)],
      shares: Float64Array.from([0.9, ...evenShares(KNOWN_USERS, 0.1)]),
    }),
  },
];

export const profiles: readonly TrafficProfile[] = [
  ...generous.map((profile) => ({ ...profile, limits: GENEROUS })),
  boundary,
];

export const DEFAULT_TRAFFIC = "realistic";
