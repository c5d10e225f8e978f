import { answersText } from "../api-answers.js";
import { type ApiCheck, broken, holding } from "../api-check.js";
import type { AuditedApi } from "../audited-api.js";
import { type Renewal, renewalRequests, renewals, type Variant } from "../renewal.js";

/** A connection of its own for each request. */
const newConnections = (api: AuditedApi): Variant => ({
  what: "a new connection",
  options: () => ({ connection: api.connect() }),
});

export const connections: ApiCheck = {
  id: "connections",
  title: "New connections",
  isFirst: true,
  promise: "A quota is that of its key, whatever connections its requests come by.",
  matters: "A client opens as many connections as it likes.",
  cost: ({ points }) => ({ requests: renewalRequests(points, 1), windows: 0 }),
  async run(api) {
    const [renewal] = (await renewals(api, [newConnections(api)])) as [Renewal];
    const promised = "a key that is used up is denied on a new connection";
    const answered = answersText(renewal.probes);
    if (renewal.fate !== "renewed") return holding(promised, answered);
    return broken("quota-per-connection", promised, answered, [
      {
        sent: "requests on a fresh key by one connection until it is denied",
        answered: "a denial",
      },
      { sent: "requests on it, each by a new connection", answered, promised: "all are denied" },
    ]);
  },
};
