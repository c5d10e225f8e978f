import { describe } from "vitest";
import { decodePlugins } from "../../src/contract/plugins.js";
import { registerPlugins } from "../../src/orchestrator/campaign/used-plugins.js";
import { clients } from "../../src/targets/clients/index.js";
import { findStore } from "../../src/targets/resolve.js";
import { clientContract, hasContract } from "../suites/client.js";
import { trafficContract } from "../suites/traffic.js";

/**
 * What every client, limiter, option and traffic must do, asked of the plugins that `npm run
 * test:plugin` names.
 */
const own = clients.map(({ id }) => id);
const plugins = await registerPlugins(decodePlugins(process.env));
if (plugins.length === 0) throw new Error("name a plugin: npm run test:plugin -- ./my-client.js");
const ids = (kind: "clients" | "options" | "traffic") =>
  plugins.flatMap(({ members }) => (members[kind] ?? []).map(({ id }) => String(id)));

describe.each(ids("clients"))("client %s", (id) => clientContract(id));

/**
 * An option is tried on the project's own clients that have a store; a limiter is reached by an
 * option or a client.
 */
const withStore = own.filter((id) =>
  clients.some((each) => each.id === id && findStore(each.stores[0]).program),
);
describe.each(ids("options"))("option %s", (option) => {
  for (const id of withStore.filter((each) => hasContract(each, [`+${option}`])))
    describe(`on ${id}`, () => clientContract(id, [`+${option}`]));
});

describe.each(ids("traffic"))("traffic %s", (id) => trafficContract(id));
