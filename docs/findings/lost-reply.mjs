import net from "node:net";
import { Redis as Ioredis } from "ioredis";
import { Redis as Iovalkey } from "iovalkey";
import { RateLimiterRedis } from "rate-limiter-flexible";

let cutting = false;
const proxy = net.createServer((socket) => {
  const store = net.connect(Number(process.env.PORT), "127.0.0.1");
  socket.pipe(store);
  store.on("data", (reply) => {
    if (!cutting) return socket.write(reply);
    cutting = false;
    socket.destroy();
  });
  socket.on("close", () => store.destroy());
});
await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
for (const [name, Redis] of [
  ["ioredis", Ioredis],
  ["iovalkey", Iovalkey],
]) {
  const storeClient = new Redis(proxy.address().port, "127.0.0.1");
  const limiter = new RateLimiterRedis({ storeClient, points: 9, duration: 60, keyPrefix: name });
  await limiter.consume("a");
  cutting = true;
  const { consumedPoints } = await limiter.consume("a");
  console.log(name, "2 consumes, points:", consumedPoints);
  storeClient.disconnect();
}
proxy.close();
