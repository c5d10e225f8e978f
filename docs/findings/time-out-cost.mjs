import { createClient } from "redis";

const socket = { host: "127.0.0.1", port: Number(process.env.PORT) };
async function cost(timeout) {
  const client = await createClient({ socket, commandOptions: { timeout } }).connect();
  const before = process.cpuUsage();
  for (let n = 0; n < 100; n++)
    await Promise.all(Array.from({ length: 100 }, () => client.get("a")));
  const { user, system } = process.cpuUsage(before);
  client.destroy();
  return user + system;
}
await cost(0);
const [without, timed] = [await cost(0), await cost(5000)];
console.log(timed > 1.3 * without ? "the time-out costs more than 30 %" : "it costs less");
