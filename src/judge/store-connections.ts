import type { StoreReading } from "../contract/store.js";
import { sum, withThousands } from "../kit/numbers.js";
import type { Evidence } from "./evidence.js";

/** From this share on a client opens a connection for each decision, and shares some by chance. */
const FOR_EACH_DECISION = 0.5;

/**
 * A note where the store received more connections under load than the load has: the target opens
 * connections, uses them for a few decisions or one, and closes them (M26). Faults that were planned
 * explain them.
 */
export function connectionNotes({
  store,
  request,
  faults,
}: Pick<Evidence, "store" | "request" | "faults">): string[] {
  const connections = store?.connections_under_load;
  if (!store || connections === undefined || faults) return [];
  if (connections <= request.load.connections) return [];

  const text = `the store received ${withThousands(connections)} connections under load`;
  const decisions = sum(
    store.nodes.map(({ at_start, at_end }) => decidedIn(at_end) - decidedIn(at_start)),
  );
  if (decisions <= 0) return [text];
  if (connections >= FOR_EACH_DECISION * decisions)
    return [`${text}, about one for each of ${withThousands(decisions)} decisions`];
  return [`${text}, one for ${Math.round(decisions / connections)} decisions`];
}

const decidedIn = ({ decisions = 0 }: StoreReading): number => decisions;
