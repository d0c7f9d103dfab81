import assert from "node:assert/strict";
import { it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";

import { create, toBinary } from "@bufbuild/protobuf";

import { Answering } from "../src/answering.js";
import { Bot } from "../src/bot.js";
import { Caller } from "../src/caller.js";
import { type Channel, Connection } from "../src/connection.js";
import type { Decision } from "../src/decision.js";
import { logTo } from "../src/log.js";
import type { MatchReport, Welcome } from "../src/messages.js";
import { profileOf } from "../src/options.js";
import { type PlayRequest, PlayResponseSchema } from "../src/v1/arena/v1/play_pb.js";

logTo(() => {});

const view = { case: "sixthSense", value: { seat: 1, seats: 2 } } as const;
const asks = (...ids: number[]) =>
  toBinary(PlayResponseSchema, create(PlayResponseSchema, {
    welcome: { games: [{ name: "sixth_sense" }] },
    decisions: ids.map((decisionId) => ({ matchId: 1n, decisionId, legal: [4, 5], softMs: 1000, view })),
  }));
const closes = (...ids: number[]) =>
  toBinary(PlayResponseSchema, create(PlayResponseSchema, { closed: ids.map((decisionId) => ({ matchId: 1n, decisionId })) }));

/** Let a bot answer messages, where all but the first arrive while it is deciding; return the numbers of the
 * answered decisions. */
async function answered(bot: Bot, ...messages: Uint8Array[]): Promise<number[]> {
  const said: PlayRequest[] = [];
  const answering = new Answering(new Caller(bot, "raise", () => 0), (_, request) => void said.push(request));
  const [first, ...later] = messages;
  answering.deliver(1, first, 0);
  const over = answering.answer();
  over.catch(() => {}); // awaited below
  await sleep(5);
  for (const message of later) answering.deliver(1, message, 0);
  await sleep(5);
  answering.end();
  await over;
  return said.flatMap(({ answers }) => answers.map(({ decisionId }) => decisionId));
}

it("a bot that awaits is interrupted when its decision is closed, and goes on with the next", async () => {
  const asked: number[] = [];
  class Waits extends Bot {
    override async decide({ decisionId, legal, signal }: Decision): Promise<number> {
      asked.push(decisionId);
      if (decisionId === 1) await sleep(60_000, undefined, { signal });
      return legal[0];
    }
  }
  assert.deepEqual(await answered(new Waits(), asks(1, 2, 3), closes(1, 3)), [2]);
  assert.deepEqual(asked, [1, 2]);
});

it("a bot that decides all at once is asked again about the open ones", async () => {
  const asked: number[][] = [];
  class Waits extends Bot {
    override async decideMany(decisions: readonly Decision[]): Promise<number[]> {
      asked.push(decisions.map(({ decisionId }) => decisionId));
      if (asked.length === 1) await sleep(60_000, undefined, { signal: decisions[1].signal });
      return decisions.map(({ legal }) => legal[0]);
    }
  }
  assert.deepEqual(await answered(new Waits(), asks(1, 2, 3), closes(2)), [1, 3]);
  assert.deepEqual(asked, [[1, 2, 3], [1, 3]]);
});

it("an AbortError while all decisions are open is an error of the bot", async () => {
  class Aborts extends Bot {
    override async decide(): Promise<number> {
      throw new DOMException("of something else", "AbortError");
    }
  }
  await assert.rejects(answered(new Aborts(), asks(1)), /of something else/);
});

it("the signal of an answered decision is aborted", async () => {
  const signals: AbortSignal[] = [];
  class Keeps extends Bot {
    override decide({ legal, signal }: Decision): number {
      signals.push(signal);
      return legal[0];
    }
  }
  assert.deepEqual(await answered(new Keeps(), asks(1)), [1]);
  assert.equal(signals[0].aborted, true);
});

it("a bot sees the welcome, with the features that hold", async () => {
  const seen: string[] = [];
  class Looks extends Bot {
    override onWelcome({ features, build }: Welcome): void {
      seen.push(...features, build);
    }
  }
  const welcome = { games: [{ name: "sixth_sense" }], features: ["slow-motion"], build: "compiled" };
  await answered(new Looks(), toBinary(PlayResponseSchema, create(PlayResponseSchema, { welcome })));
  assert.deepEqual(seen, ["slow-motion", "compiled"]);
});

it("a bot's hello names its features", async () => {
  class Knows extends Bot {
    override features = ["slow-motion"];
  }
  const written: PlayRequest[] = [];
  const call = { write: (request: PlayRequest) => void written.push(request), end: () => {}, cancel: () => {} };
  const channel: Channel = { play: () => call, register: () => assert.fail("it has a token"), close: () => {} };
  const inbox = { deliver: () => {}, over: () => {}, hurry: () => {} };
  const connection = new Connection(profileOf(new Knows(), { token: "given" }), () => channel, { now: () => 0, after: () => () => {} }, inbox);
  const over = connection.stay();
  connection.end();
  await over;
  assert.deepEqual(written.map(({ hello }) => hello?.features), [["slow-motion"]]);
});

it("a bot meets plain numbers, which JSON can hold", async () => {
  const seen: string[] = [];
  class Writes extends Bot {
    override decide({ matchId, legal }: Decision): number {
      seen.push(JSON.stringify({ matchId }));
      return legal[0];
    }
    override onMatchEnd(report: MatchReport): void {
      const next: number = report.matchId + 1;
      seen.push(JSON.stringify({ next, entry: report.entry?.number, places: report.places }));
    }
  }
  const reports = [{ matchId: 7n, places: [2, 1], entry: { number: 9007199254740991n } }];
  await answered(new Writes(), asks(1), toBinary(PlayResponseSchema, create(PlayResponseSchema, { reports })));
  assert.deepEqual(seen, ['{"matchId":1}', '{"next":8,"entry":9007199254740991,"places":[2,1]}']);
});
