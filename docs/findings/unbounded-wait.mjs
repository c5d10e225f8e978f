import { createClient } from "redis";

const socket = { host: "127.0.0.1", port: Number(process.env.PORT) };
const operator = await createClient({ socket }).connect();
const client = await createClient({ socket, commandOptions: { timeout: 100 } }).connect();
await operator.sendCommand(["CLIENT", "PAUSE", "1000"]);
const began = performance.now();
const outcome = await client.get("a").then(
  () => "answered",
  () => "timed out",
);
console.log(outcome, performance.now() - began > 500 ? "after the pause" : "in time");
client.destroy();
operator.destroy();
