import type { Load } from "../../contract/configuration.js";
import { definedOnly } from "../../kit/defined-only.js";
import type { LoadedPlugin } from "../../plugins/load.js";
import { mostRequests } from "../../traffic/boundary-traffic.js";
import { findProfile } from "../../traffic/lookup.js";
import { openTraffic } from "../../traffic/streams.js";
import type { TrafficProfile } from "../../traffic/traffic-types.js";
import { type ClosedConnections, ClosedLoop } from "../closed-loop.js";
import { ChannelConnections, ConnectionPool } from "../drivers/connection-pool.js";
import type { ChannelRequests, Driver, LimiterReport, OpenDriver } from "../drivers/driver.js";
import type { LoadLoop } from "../load-loop.js";
import { DecisionLog, RequestCounter } from "../measurement/decision-log.js";
import { OpenLoop } from "../open-loop/open-loop.js";
import { type OpenLoad, streamOfShare } from "../open-loop/send-schedule.js";
import type { RunAssignment, TargetAssignment } from "./protocol.js";

const LOOPBACK_CONNECTIONS = 8;

/**
 * Room for the requests that a Poisson process sends beyond its rate by chance. In the smallest
 * run, which has 15 000, these are 4 % at most (5 deviations).
 */
const ROOM = 1.05;

/** What all targets of a worker share. */
export interface TargetContext {
  driver: Driver;
  plugins: readonly LoadedPlugin[];
  /** The number of the worker among those of all generators, and how many they are. */
  index: number;
  of: number;
}

/**
 * The load of this worker on one target: of its only run or, in a load curve, of all its runs. These
 * have equal connections in all open loops, and at most one of them is a closed loop.
 */
export class TargetLoad {
  readonly counts: RequestCounter;
  readonly #runs: TargetAssignment;
  readonly #context: TargetContext;
  readonly #profile: TrafficProfile;
  #opened: OpenDriver | undefined;
  #connections: ClosedConnections | undefined;
  #open: OpenLoop | undefined;
  /** Every request of the run, where the quota binds. The open loop makes it. */
  log: DecisionLog | undefined;

  constructor(runs: TargetAssignment, context: TargetContext) {
    const [{ spec }] = runs;
    this.#runs = runs;
    this.#context = context;
    this.#profile = findProfile(spec.generator.traffic);
    this.counts = new RequestCounter(this.#profile.population().requests.length);
  }

  /**
   * Connects by a command, because only a reply to a command carries an exit code.
   * @param isCompiled whether another target's open loop has sent in this thread
   */
  async connect(isCompiled = false): Promise<void> {
    const { driver, plugins } = this.#context;
    const [first] = this.#runs;
    const closed = this.#runs.find(({ spec }) => spec.generator.load.model === "closed");
    const open = this.#runs.find(({ spec }) => spec.generator.load.model === "open");
    const opened = await driver.open((closed ?? first).spec, plugins);
    this.#opened = opened;
    if (closed) {
      this.#connections = this.#closedConnections(opened, closed);
      await this.#connections.connected();
    }
    if (open) {
      this.#open = this.#openLoop(opened, open, closed?.spec.generator.load, isCompiled);
      await this.#open.connected();
    }
  }

  /** The load loop of the only run. */
  get loop(): LoadLoop {
    if (this.#open) return this.#open;
    return new ClosedLoop(this.connections, this.#context.driver.codeText);
  }

  /** The connections of a closed loop. Without one they are those of the open loop. */
  get connections(): ClosedConnections {
    this.#connections ??= this.#connectionsOfOpenLoop();
    return this.#connections;
  }

  get openLoop(): OpenLoop {
    if (!this.#open) throw new Error("the worker has no open loop, or is not connected");
    return this.#open;
  }

  loadOf(run: number): Load {
    const load = this.#runs[run]?.spec.generator.load;
    if (!load) throw new Error(`the target has no run ${run}`);
    return load;
  }

  limiterReport(): LimiterReport | undefined {
    return this.#opened?.limiterReport?.();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#connections?.stop(), this.#open?.stop()]);
    await this.#opened?.close();
  }

  #closedConnections(
    opened: OpenDriver,
    { spec, firstConnection, connections }: RunAssignment,
  ): ClosedConnections {
    const { driver } = this.#context;
    const { generator } = spec;
    const share = {
      connections: generator.load.connections,
      first: firstConnection,
      count: connections,
    };
    const requests = {
      ...openTraffic(this.#profile, generator.seed, share),
      first: firstConnection,
      counts: this.counts,
    };
    return (
      opened.closedConnections?.(requests) ??
      new ChannelConnections({
        connections,
        poolFor: (user) =>
          new ConnectionPool(connections, opened.openChannels(requests), generator.timeout_s, user),
        timeoutS: generator.timeout_s,
        endpoint: driver.endpoint(spec),
      })
    );
  }

  /** The pool of the open loop as connections of a closed one. */
  #connectionsOfOpenLoop(): ClosedConnections {
    const { pool } = this.openLoop;
    const [{ spec, connections }] = this.#runs;
    return new ChannelConnections({
      connections,
      poolFor: () => pool,
      timeoutS: spec.generator.timeout_s,
      endpoint: this.#context.driver.endpoint(spec),
    });
  }

  /** @param closed the closed loop of the same target, whose connections are numbered first */
  #openLoop(
    opened: OpenDriver,
    { spec, firstConnection, connections }: RunAssignment,
    closed: Load | undefined,
    isCompiled: boolean,
  ): OpenLoop {
    const { driver, index, of } = this.#context;
    const { generator } = spec;
    const load = generator.load as OpenLoad;
    const times_ms = this.#profile.trace?.times_ms;
    const share = definedOnly({ ...load, seed: generator.seed, index, of, times_ms });
    const requestsOf = (count: number): ChannelRequests => {
      const connection = { connections: 1, first: 0, count: 1 };
      const traffic = openTraffic(this.#profile, generator.seed, connection, spec.limits);
      // All connections share one stream, because the schedule decides what is sent, not which
      // connection happens to be free.
      const streams = traffic.streams.map((stream) => streamOfShare(stream, share));
      return {
        requests: traffic.requests,
        streams: Array.from({ length: count }, () => streams).flat(),
        first: firstConnection + (closed?.connections ?? 0),
      };
    };
    if (this.#profile.binding) {
      const maxRequests = mostRequests(load.rate_per_second, generator.extent, generator.warmup_s);
      this.log = new DecisionLog(Math.ceil((maxRequests / of) * ROOM) + connections);
    }
    const { counts, log } = this;
    const requests = requestsOf(connections);

    return new OpenLoop(
      definedOnly({
        share,
        connections,
        openChannel: opened.openChannels(definedOnly({ ...requests, counts, log })),
        // A burst of a key in a trace stays one only if each request keeps its time.
        restarts: load.arrivals === "trace" ? () => requests.streams[0]?.restart?.() : undefined,
        async startLoopback() {
          const loopback = await opened.startLoopback();
          const openChannel = loopback.openChannels(requestsOf(LOOPBACK_CONNECTIONS));
          return { connections: LOOPBACK_CONNECTIONS, openChannel, close: () => loopback.close() };
        },
        timeoutS: generator.timeout_s,
        endpoint: driver.endpoint(spec),
        codeText: driver.codeText,
        isCompiled,
      }),
    );
  }
}
