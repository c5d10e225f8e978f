import { finished } from "node:stream/promises";
import { endListed } from "./state-folder.js";

// The input of this process is a pipe that nobody writes to. The system closes it when the campaign's
// process is gone, however it went.
await finished(process.stdin.resume()).catch(() => {});
await endListed(process.argv[2] ?? "");
