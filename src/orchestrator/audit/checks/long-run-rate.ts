import { admissionsOutcome, type Check } from "../check.js";
import { steady } from "../scripted.js";

export const longRunRate: Check = {
  id: "long-run-rate",
  title: "Long-run rate",
  isConcurrent: true,
  promise: "A key that always asks for more gets its quota in every window, no more and no less.",
  matters:
    "It is the rate that a price list names. What is rounded in each window adds up over hours.",
  async run(system) {
    const load = await steady(system);
    return admissionsOutcome(load, { promised: ` of ${load.requests} in ${load.seconds} s` });
  },
};
