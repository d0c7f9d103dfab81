// Plays the conversations of clients/conformance with the whole package and its connection on a virtual clock; only gRPC is
// scripted. clients/conformance/README.md explains the steps.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";

import { create, equals, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { AnySchema, DurationSchema } from "@bufbuild/protobuf/wkt";

import { Answering } from "../src/answering.js";
import { Bot, type Choices } from "../src/bot.js";
import { Caller } from "../src/caller.js";
import { type Call, type CallEvents, type Channel, type Clock, Connection } from "../src/connection.js";
import type { Decision } from "../src/decision.js";
import { ArenaError } from "../src/errors.js";
import { conductOf, type MatchReport, type MatchStart, type Notice, type RoundReport, type Welcome } from "../src/messages.js";
import { DRAIN, DRAIN_TERMINATED, profileOf } from "../src/options.js";
import { type CallStatus, readDetails } from "../src/status.js";
import { type RegisterBotRequest, RegisterBotRequestSchema, type RegisterBotResponse, RegisterBotResponseSchema } from "../src/v1/arena/v1/bots_pb.js";
import {
  HelloSchema, type PlayRequest, PlayRequestSchema, PlayResponseSchema,
} from "../src/v1/arena/v1/play_pb.js";

const CONFORMANCE = new URL("../../../conformance/", import.meta.url);
const MESSAGES = read("messages.json") as Record<string, Record<string, JsonValue>>;
const A_DAY = 86_400_000;

export interface Conversation {
  title: string;
  bot?: Record<string, unknown>;
  steps: Record<string, never>[];
}

const BOT = {
  games: ["sixth_sense"], capacity: 8, version: "1", token: "given" as string | null, owner: undefined as string | undefined,
  invitation: undefined as string | undefined, matches: undefined as number | undefined, challenges: false as boolean | string[],
  casual: false, on_error: "raise" as "raise" | "continue", give_up_after: undefined as number | undefined, thinks_ms: 0,
  batch: false, gives: undefined as number[] | undefined, ladders: undefined as string[] | undefined,
  events: undefined as string[] | undefined,
};

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, CONFORMANCE), "utf8"));
}

/** All conversations, by topic. */
export function conversations(): [string, Conversation[]][] {
  const files = readdirSync(new URL("conversations/", CONFORMANCE)).filter((name) => name.endsWith(".json"));
  return files.sort().map((name) => [name.replace(".json", ""), read(`conversations/${name}`) as Conversation[]]);
}

/** A clock that advances only on request. */
class VirtualClock implements Clock {
  time = 0;
  readonly #alarms: { at: number; call: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(ms: number, call: () => void): () => void {
    const alarm = { at: this.time + ms, call };
    this.#alarms.push(alarm);
    return () => {
      const at = this.#alarms.indexOf(alarm);
      if (at >= 0) this.#alarms.splice(at, 1);
    };
  }

  /** Advance the clock by the given time or until a condition holds. */
  async pass(ms: number, until: () => boolean = () => false): Promise<void> {
    const end = this.time + ms;
    await settle();
    while (!until()) {
      const next = this.#alarms.reduce<{ at: number; call: () => void } | undefined>((best, each) => (best && best.at <= each.at ? best : each), undefined);
      if (next === undefined || next.at > end + 1e-6) break;
      this.#alarms.splice(this.#alarms.indexOf(next), 1);
      this.time = Math.max(this.time, next.at);
      next.call();
      await settle();
    }
    if (!until()) this.time = Math.max(this.time, end);
  }
}

/** Run everything that takes no time. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

class ScriptedCall implements Call {
  said: PlayRequest[] = [];
  closed = false;
  cancelled = false;

  constructor(readonly address: string, readonly token: string, readonly events: CallEvents) {}

  write(request: PlayRequest): void {
    if (!this.cancelled) this.said.push(fromBinary(PlayRequestSchema, toBinary(PlayRequestSchema, request)));
  }

  end(): void {
    this.closed = true;
  }

  cancel(): void {
    this.cancelled = true;
  }
}

class ScriptedRegistration {
  readonly answer: Promise<RegisterBotResponse>;
  resolve!: (response: RegisterBotResponse) => void;
  reject!: (status: CallStatus) => void;

  constructor(readonly request: RegisterBotRequest) {
    this.answer = new Promise((resolve, reject) => ([this.resolve, this.reject] = [resolve, reject]));
  }
}

class ScriptedBot extends Bot {
  override name = "bot";
  #welcome: Welcome | undefined;

  /** `meanwhile` delivers the script's messages while the bot thinks. */
  constructor(
    private readonly spec: typeof BOT,
    private readonly clock: VirtualClock,
    private readonly told: string[],
    private readonly meanwhile: () => void,
  ) {
    super();
    [this.games, this.capacity, this.version] = [spec.games, spec.capacity, spec.version];
  }

  override decide(decision: Decision): number {
    this.#think([decision]);
    return decision.legal[0];
  }

  override decideMany(decisions: readonly Decision[]): Choices {
    if (this.spec.gives === undefined && !this.spec.batch) return super.decideMany(decisions);
    this.#think(decisions);
    return this.spec.gives ?? decisions.map(({ legal }) => legal[0]);
  }

  #think(decisions: readonly Decision[]): void {
    for (const { matchId, decisionId, softMs, bankMs, game, view } of decisions) {
      const other = view.$typeName === "google.protobuf.Any" ? ` ${game.name} ${Buffer.from(view.value).toString("base64")}` : "";
      this.told.push(`decide ${matchId}/${decisionId} ${softMs}+${bankMs}${other}`);
    }
    this.clock.time += this.spec.thinks_ms;
    this.meanwhile();
    for (const { matchId, decisionId, signal } of decisions) if (signal.aborted) this.told.push(`closed ${matchId}/${decisionId}`);
  }

  override onWelcome(welcome: Welcome): void {
    this.#welcome = welcome;
  }

  override onMatchStart(start: MatchStart): void {
    const limit = conductOf(this.#welcome!, start)?.softLimitMs ?? 0;
    this.told.push(`start ${start.matchId}${start.ladder && ` ${start.ladder} ${limit}`}`);
  }

  override onRound({ matchId }: RoundReport): void {
    this.told.push(`round ${matchId}`);
  }

  override onMatchEnd(report: MatchReport): void {
    super.onMatchEnd(report);
    this.told.push(`report ${report.matchId}`);
  }

  override onNotice(notice: Notice): void {
    super.onNotice(notice);
    this.told.push(`notice ${notice.kind} ${notice.matchId ?? "-"}`);
  }
}

const wordOf = (error: ArenaError) => error.name.replace(/Error$/, "").replace(/(?<!^)[A-Z]/g, "_$&").toUpperCase();

/** The end of a call, as a step describes it. */
interface Ending {
  status: string;
  text?: string;
  reason?: string;
  pause?: { seconds?: string; nanos?: number };
}

/** Return gRPC's status for the end of a call; its details are encoded to bytes and read again. */
function statusOf({ status, text = "", reason, pause }: Ending): CallStatus {
  const details = new BinaryWriter();
  const add = (type: string, value: Uint8Array) => {
    const typeUrl = `type.googleapis.com/google.rpc.${type}`;
    const packed = create(AnySchema, { typeUrl, value: new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(value).finish() });
    details.tag(3, WireType.LengthDelimited).bytes(toBinary(AnySchema, packed));
  };
  if (pause) add("RetryInfo", toBinary(DurationSchema, create(DurationSchema, { seconds: BigInt(pause.seconds ?? 0), nanos: pause.nanos ?? 0 })));
  if (reason) add("ErrorInfo", new TextEncoder().encode(reason));
  return { status, text, ...readDetails(details.finish()) };
}

/** Convert the numbers of a line to JavaScript's. Messages may contain numbers above 2^53, but bots do not get them. */
const rounded = (line: string) => line.replace(/(?<= )\d{16,}/, (digits) => String(Number(digits)));

type Said = string | Record<string, JsonValue>;

/** Return the server's message in a step. */
function messageOf(said: Said): Uint8Array {
  let message = typeof said === "string" ? MESSAGES[said] : said;
  if ("like" in message) {
    const { like, ...rest } = message;
    message = { ...MESSAGES[like as string], ...rest };
  }
  return toBinary(PlayResponseSchema, fromJson(PlayResponseSchema, message));
}

/** One conversation. */
class Play {
  readonly #clock = new VirtualClock();
  readonly #spec: typeof BOT;
  readonly #told: string[] = [];
  readonly #tries: (ScriptedCall | ScriptedRegistration)[] = [];
  readonly #tokens = new Map<string, string>();
  readonly #nonces = new Set<string>();
  #call: ScriptedCall | undefined;
  #registration: ScriptedRegistration | undefined;
  #connection!: Connection;
  #end: { error: unknown } | undefined;
  #stopped = false;
  /** Messages that will arrive while the bot thinks about its next decision. */
  readonly #meanwhile: Uint8Array[] = [];

  constructor(private readonly conversation: Conversation, private readonly tokenFile: string) {
    this.#spec = { ...BOT, ...conversation.bot };
    assert.deepEqual(Object.keys(this.#spec).sort(), Object.keys(BOT).sort(), "the bot is described by words that there are");
  }

  async play(): Promise<void> {
    this.#start();
    const { steps } = this.conversation;
    for (const [at, step] of steps.entries()) {
      const [[name, wanted]] = Object.entries(step);
      try {
        await settle();
        await this.#steps[name](wanted);
        await settle();
        if (name !== "says" && !("says" in (steps[at + 1] ?? {}))) {
          assert.deepEqual((this.#call?.said ?? []).map((each) => toJson(PlayRequestSchema, each)), [], "nothing is said");
        }
      } catch (error) {
        (error as Error).message += `\nin step ${at + 1}: ${JSON.stringify(step)}`;
        throw error;
      }
    }
    this.#connection.end();
    await settle();
    assert.equal(this.#meanwhile.length, 0, "it has thought since");
    assert.equal(this.#tries.length, 0, "it tries nothing more");
  }

  /** Check the bot's random bytes in a message, and remove them. */
  #takeNonce(said: { nonce: Uint8Array }): void {
    assert.equal(said.nonce.length, 16, "its own chance are 16 bytes");
    const digits = Buffer.from(said.nonce).toString("hex");
    assert.ok(!this.#nonces.has(digits), "each time others");
    this.#nonces.add(digits);
    said.nonce = new Uint8Array();
  }

  #start(): void {
    const { owner, invitation, matches, challenges, casual, ladders, events, on_error: onError, give_up_after: giveUpAfter } = this.#spec;
    const bot = new ScriptedBot(this.#spec, this.#clock, this.#told, () => {
      for (const message of this.#meanwhile.splice(0)) this.#open().events.message(message);
    });
    const token = this.#spec.token ?? undefined;
    const options = { address: "arena:1", token, tokenFile: this.tokenFile, owner, invitation, matches, challenges, casual, giveUpAfter, ladders, events };
    const caller = new Caller(bot, onError, () => this.#clock.now());
    const answering = new Answering(caller, (session, request) => connection.say(session, request));
    const profile = profileOf(bot, { ...options, receipts: false });
    const connection = new Connection(profile, (at) => this.#channel(at), this.#clock, answering, () => 1);
    [this.#connection, this.#end, this.#stopped] = [connection, undefined, false];
    connection.stay().then(() => answering.end(), (error: unknown) => answering.end(error));
    const over = (error?: unknown) => {
      if (connection === this.#connection) this.#end = { error };
      connection.end();
    };
    answering.answer().then(over, over);
  }

  #channel(at: string): Channel {
    return {
      play: (token, events) => {
        const call = new ScriptedCall(at, token, events);
        this.#tries.push(call);
        return call;
      },
      register: (request) => {
        const registration = new ScriptedRegistration(request);
        this.#tries.push(registration);
        return registration.answer;
      },
      close: () => {},
    };
  }

  #next<T>(kind: new (...from: never[]) => T): T {
    const found = this.#tries.shift();
    assert.ok(found !== undefined, `it tries nothing; ${this.#state()}`);
    assert.ok(found instanceof kind, `it made a ${found.constructor.name}`);
    return found as T;
  }

  #state(): string {
    return this.#end ? `it has ended: ${this.#end.error}` : "it runs";
  }

  #sameToken(name: string, token: string): void {
    for (const [label, other] of this.#tokens) if (label !== name) assert.notEqual(token, other, "it is another token");
    if (!this.#tokens.has(name)) this.#tokens.set(name, token);
    assert.equal(token, this.#tokens.get(name), "it is the same token");
  }

  #open(): ScriptedCall {
    assert.ok(this.#call, "a stream is open");
    return this.#call;
  }

  readonly #steps: Record<string, (wanted: any) => void | Promise<void>> = {
    registers: (wanted: Record<string, string>) => {
      this.#registration = this.#next(ScriptedRegistration);
      const { request } = this.#registration;
      this.#sameToken(wanted.token, request.token);
      assert.ok(equals(RegisterBotRequestSchema, request, fromJson(RegisterBotRequestSchema, { ...wanted, token: request.token })));
    },
    registered: ({ token }: { token?: string }) => {
      const { request } = this.#registration!;
      if (token !== undefined) this.#tokens.set(token, token);
      this.#registration!.resolve(create(RegisterBotResponseSchema, { name: request.name, token: token ?? request.token }));
    },
    refused: (status: Ending) => this.#registration!.reject(statusOf(status)),
    opens: ({ address = "arena:1", token, hello: wanted }: { address?: string; token: string; hello: JsonValue }) => {
      this.#call = this.#next(ScriptedCall);
      assert.equal(this.#call.address, address);
      this.#sameToken(token, this.#call.token);
      const [first, ...more] = this.#call.said.splice(0);
      assert.equal(more.length, 0);
      const hello = first.hello!;
      assert.match(hello.client, /^arena-client-typescript /);
      hello.client = "";
      hello.events.forEach((entry) => this.#takeNonce(entry));
      assert.deepEqual(toJson(HelloSchema, hello), toJson(HelloSchema, fromJson(HelloSchema, wanted)));
      hello.client = "-";
      assert.equal(Object.keys(toJson(PlayRequestSchema, first)!).length, 1);
    },
    server: (said: Said) => this.#open().events.message(messageOf(said)),
    while_thinking: (said: Said[]) => void this.#meanwhile.push(...said.map(messageOf)),
    bytes: (encoded: string) => this.#open().events.message(Buffer.from(encoded, "base64")),
    says: (wanted: JsonValue[]) => {
      const said = this.#open().said.splice(0);
      said.flatMap((each) => each.ready).forEach((ready) => this.#takeNonce(ready));
      const json = (each: PlayRequest) => toJson(PlayRequestSchema, each);
      assert.deepEqual(said.map(json), wanted.map((each) => json(fromJson(PlayRequestSchema, each))));
    },
    told: (wanted: string[]) => assert.deepEqual(this.#told.splice(0), wanted.map(rounded)),
    breaks: (status: Ending) => {
      const call = this.#open();
      this.#call = undefined;
      call.events.ended(statusOf(status));
    },
    comes_back: async ({ after_ms: wanted }: { after_ms: number }) => {
      const since = this.#clock.time;
      await this.#clock.pass(A_DAY, () => this.#tries.length > 0 || this.#end !== undefined);
      assert.ok(this.#tries.length, `it comes back; ${this.#state()}`);
      assert.equal(Math.round(this.#clock.time - since), wanted);
    },
    passes: ({ ms }: { ms: number }) => this.#clock.pass(ms),
    closes: () => {
      const call = this.#open();
      assert.ok(call.closed, "it says goodbye");
      this.#call = undefined;
      call.events.ended(statusOf({ status: "OK" }));
    },
    stops: (signal: string) => {
      if (this.#stopped) this.#connection.leave();
      else this.#connection.drain(1000 * (signal === "SIGINT" ? DRAIN : DRAIN_TERMINATED));
      this.#stopped = true;
    },
    restarts: async () => {
      this.#connection.end();
      await settle();
      this.#call = undefined;
      this.#start();
    },
    ends: (wanted: { error: string | null; status: number }) => {
      assert.ok(this.#end, "it has ended");
      assert.equal(this.#tries.length, 0, "it does not come back");
      this.#call = undefined;
      const { error } = this.#end;
      if (error !== undefined && !(error instanceof ArenaError)) throw error;
      assert.deepEqual({ error: error ? wordOf(error) : null, status: error?.status ?? 0 }, wanted);
    },
  };
}

/** Play a conversation; AssertionError if the package deviates from it. */
export async function check(conversation: Conversation, tokenFile: string): Promise<void> {
  await new Play(conversation, tokenFile).play();
}
