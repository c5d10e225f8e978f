const USERS = 500;

/** @type {import("ratelimit-bench/plugin").Plugin} */
export default {
  traffic: [
    {
      id: "one-in-four",
      summary: "500 equal users; every fourth request comes from one whose quota is used up",
      // A quota that no run can use up, so that the keys alone decide who is denied, whatever the client's speed.
      limits: { points: 1_000_000_000, window_s: 60, block_s: 0 },
      population: () => ({
        requests: Array.from({ length: USERS }, (_, n) => [
          `${n % 4 === 0 ? "exhausted-" : "user-"}${n}`,
        ]),
        shares: new Float64Array(USERS).fill(1 / USERS),
      }),
    },
  ],
};
