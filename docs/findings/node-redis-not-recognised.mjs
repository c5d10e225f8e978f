import { RateLimiterRedis } from "rate-limiter-flexible";
import { createClient } from "redis";

const storeClient = await createClient({
  socket: { host: "127.0.0.1", port: Number(process.env.PORT) },
}).connect();
for (const options of [{}, { useRedisPackage: true }]) {
  const limiter = new RateLimiterRedis({ storeClient, points: 5, duration: 60, ...options });
  console.log(
    await limiter.consume("a").then(
      () => "allowed",
      (error) => error.message,
    ),
  );
}
storeClient.destroy();
