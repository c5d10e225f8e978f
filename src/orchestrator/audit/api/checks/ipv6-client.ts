import { counted } from "../../../ui/text.js";
import { rangeText } from "../../check.js";
import type { Range } from "../../expected.js";
import { type Answered, admittedOf, answersText, burstOf } from "../api-answers.js";
import { type ApiCheck, broken, holding } from "../api-check.js";
import type { AuditedApi } from "../audited-api.js";
import { requireDecided } from "./active.js";

/** The requests, in quotas. Each comes from another address of a /64. */
const QUOTAS = 2;

/** A /64 of the documentation network for this run. */
const networkOf = (fresh: string): string => {
  const [, , third = "0", fourth = "0"] = fresh.split(".");
  return `2001:db8:${Number(third).toString(16)}:${Number(fourth).toString(16)}`;
};

async function hop(api: AuditedApi): Promise<Answered[]> {
  const network = networkOf(await api.freshKey());
  const answers: Answered[] = [];
  for (let host = 1; host <= QUOTAS * api.limits.points; host++)
    answers.push(await api.send(`${network}::${host.toString(16)}`));
  return answers;
}

export const ipv6Client: ApiCheck = {
  id: "ipv6-client",
  title: "IPv6 client",
  promise: "A client that hops through the addresses of its /64 gets one quota.",
  matters: "A subscriber has a /64 at least, often a /56: one quota an address is no limit for it.",
  unsupportedReason: ({ carrier }) =>
    carrier.text === "forwarded-for"
      ? undefined
      : "only --key forwarded-for can name addresses of a /64",
  cost: ({ points }) => ({ requests: QUOTAS * points, windows: 0 }),
  async run(api) {
    const answers = await hop(api);
    requireDecided(answers);
    const [range] = api.ranges([burstOf(answers)]) as [Range];
    const seen = admittedOf(answers);
    const promised = `${rangeText(range)} from all addresses of a /64`;
    if (seen <= range.most) return holding(promised, String(seen));
    return broken("quota-per-address", promised, String(seen), [
      {
        sent: `${counted(answers.length, "request")}, each with another address of one /64`,
        answered: answersText(answers),
        promised: `${rangeText(range)} are admitted`,
      },
    ]);
  },
};
