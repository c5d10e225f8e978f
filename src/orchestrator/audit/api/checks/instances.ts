import { counted } from "../../../ui/text.js";
import { rangeText } from "../../check.js";
import type { Range } from "../../expected.js";
import { type Answered, admittedOf, answersText, burstOf } from "../api-answers.js";
import { type ApiCheck, broken, holding } from "../api-check.js";
import { type AuditedApi, BEYOND_QUOTA } from "../audited-api.js";
import { requireDecided } from "./active.js";

const requestsOf = (points: number, instances: number): number =>
  instances * (points + BEYOND_QUOTA);

/** Requests on a key that go to the instances by turns. */
async function byTurns(api: AuditedApi, key: string): Promise<Answered[]> {
  const { origins } = api;
  const connections = origins.map((origin) => api.connect(origin));
  try {
    const answers: Answered[] = [];
    for (let sent = 0; sent < requestsOf(api.limits.points, origins.length); sent++) {
      const place = sent % origins.length;
      const options = { origin: origins[place], connection: connections[place] };
      answers.push(await api.send(key, options));
    }
    return answers;
  } finally {
    for (const connection of connections) connection.close();
  }
}

/** The tries, all of which must differ from the promise: one may meet the end of a window. */
const TRIES = 2;

export const instances: ApiCheck = {
  id: "instances",
  title: "Instances",
  promise: "The quota of a key is one over all instances.",
  matters: "Counters in the process admit the quota once for each instance behind the balancer.",
  unsupportedReason: (settings) =>
    settings.instances.length === 0 ? "no other --instance is named" : undefined,
  cost: ({ points }, settings) => ({
    requests: TRIES * requestsOf(points, settings.instances.length + 1),
    windows: 0,
  }),
  async run(api) {
    let promised = "";
    let answers: Answered[] = [];
    for (let tries = 0; tries < TRIES; tries++) {
      answers = await byTurns(api, await api.freshKey());
      requireDecided(answers);
      const [range] = api.ranges([burstOf(answers)]) as [Range];
      promised = `${rangeText(range)} over ${api.origins.length} instances`;
      if (admittedOf(answers) <= range.most) return holding(promised, String(admittedOf(answers)));
    }
    return broken("quota-per-instance", promised, String(admittedOf(answers)), [
      {
        sent: `${counted(answers.length, "request")} on a fresh key to ${api.origins.length} instances by turns`,
        answered: answersText(answers),
        promised: `${promised} are admitted`,
      },
    ]);
  },
};
