import { installedFor } from "../../helpers/on-demand.js";
import { serverContract } from "../../suites/server.js";

const { fromFolder } = await installedFor("none+nest");

serverContract("nest", fromFolder);
