// A bot's connection to a server: register once, connect, and reconnect when the connection is lost. The connection
// answers heartbeats and invitations, and puts all other messages into the bot's inbox. So it can run in a different
// thread from the bot. Clock, random numbers and gRPC are passed in.

import { randomBytes } from "node:crypto";

import { create, fromBinary } from "@bufbuild/protobuf";

import { Addresses } from "./addresses.js";
import { ArenaError, DroppedError, ParkedError, TokenRefusedError, UnreachableError } from "./errors.js";
import { log } from "./log.js";
import type { Profile } from "./options.js";
import { Receipts } from "./receipts.js";
import { concernsBot, Progress, Session } from "./session.js";
import { type CallStatus, playFailure, registrationFailure } from "./status.js";
import { NewToken, readToken } from "./tokens.js";
import { type RegisterBotRequest, RegisterBotRequestSchema, type RegisterBotResponse } from "./v1/arena/v1/bots_pb.js";
import { HelloSchema, type PlayRequest, PlayRequestSchema, PlayResponseSchema, WelcomeSchema } from "./v1/arena/v1/play_pb.js";
import { VERSION } from "./version.js";

/** Maximum milliseconds to wait for the server's answer to a registration, for its welcome and for its goodbye. */
const ANSWER_TIME = 20_000;
/** Maximum milliseconds before the first try to reconnect. */
const FIRST_WAIT = 100;
/** Maximum milliseconds between two tries while the server may just be restarting. */
const LONGEST_WAIT = 5_000;
/** Milliseconds without a connection after which a restart is no longer likely. */
const LONG_OUTAGE = 120_000;
/** Maximum milliseconds between two tries during a long outage. */
const LONGEST_OUTAGE_WAIT = 30_000;
/** Milliseconds without a connection to a node after which other nodes may have interrupted its matches. The bot then
 * connects to another node. */
const LEASE = 15_000;
/** Maximum milliseconds to wait for the server to end the stream of a bot that leaves in the middle of matches. */
const LEAVE_TIME = 2_000;
/** Milliseconds after which a connection counts as good, so that waits start again from the shortest. */
const STEADY = 1_000;
/** Maximum number of failures to diagnose before the first connection. */
const PROBES = 3;

/** A clock and its alarms. */
export interface Clock {
  /** Milliseconds since a fixed moment. */
  now(): number;
  /** Make a call after the given number of milliseconds; returns a function that cancels the call. */
  after(ms: number, call: () => void): () => void;
}

/** One gRPC stream. */
export interface Call {
  write(request: PlayRequest): void;
  /** Close the bot's side. */
  end(): void;
  /** Cancel the whole stream. */
  cancel(): void;
}

/** Events on a stream. */
export interface CallEvents {
  message(bytes: Uint8Array): void;
  ended(status: CallStatus): void;
}

/** A channel to the server, for one try. */
export interface Channel {
  play(token: string, events: CallEvents): Call;
  /** Rejects with the CallStatus if the call fails. */
  register(request: RegisterBotRequest, patience: number): Promise<RegisterBotResponse>;
  close(): void;
}

/** Receiver of everything for the bot. Sessions are numbered, one per stream. */
export interface Inbox {
  /** A message from the server, as bytes, and its time of arrival; the first of a session contains the welcome. */
  deliver(session: number, bytes: Uint8Array, received: number): void;
  /** A session has ended; the next session repeats the open decisions. */
  over(session: number): void;
  /** Called when no time is left and the bot must no longer be called. */
  hurry(): void;
}

class Ended extends Error {}

/** Return the longest wait before the next try, given the milliseconds since the last good connection. */
export function longestWait(outage: number): number {
  const longest = outage <= LONG_OUTAGE ? LONGEST_WAIT : LONGEST_OUTAGE_WAIT;
  return Math.min(longest, Math.max(FIRST_WAIT, outage));
}

/** A bot's connection, with one stream at a time. */
export class Connection {
  readonly #progress: Progress;
  readonly #addresses: Addresses;
  readonly #receipts: Receipts | undefined;
  readonly #ended: Promise<never>;
  readonly #alarms = new Set<() => void>();
  #end: (reason: Error) => void = () => {};
  #name: string;
  #call: Call | undefined;
  #session = 0;
  /** True if the server has sent a welcome on this try. */
  #welcomed = false;
  /** True if the server has ever sent a welcome. */
  #reached = false;
  #leaving = false;

  /** `chance` returns a number from 0 to 1. `obstacle` describes a permanent obstacle if the first connection fails. */
  constructor(
    private readonly profile: Profile,
    private readonly open: (address: string) => Channel,
    private readonly clock: Clock,
    private readonly inbox: Inbox,
    private readonly chance: () => number = Math.random,
    private readonly obstacle: () => Promise<string> = async () => "",
  ) {
    this.#name = profile.name;
    this.#addresses = new Addresses(profile.address);
    this.#progress = new Progress(profile.matches);
    this.#receipts = profile.receipts === undefined ? undefined : new Receipts(profile.receipts);
    this.#ended = new Promise((_, reject) => (this.#end = reject));
    this.#ended.catch(() => {});
  }

  /** Stay connected until the matches are played, the server ends the stream, or `end` is called. Throws ArenaError. */
  async stay(): Promise<void> {
    try {
      await this.#stay();
    } catch (error) {
      if (!(error instanceof Ended)) throw error;
    } finally {
      for (const callOff of this.#alarms) callOff();
    }
  }

  /** Start no more matches and finish the current ones; leave the rest after the given number of milliseconds. */
  drain(ms: number): void {
    const { accepted, playing } = this.#progress;
    this.#progress.ending = true;
    const left = playing.size + accepted.size;
    if (!left) return this.end();
    log.info(
      `finishing ${matches(left)} within ${Math.round(ms / 1000)} s, and beginning no more; once more, and it leaves at once: house bots play them on, and each counts as a last place`,
    );
    this.#call?.write(create(PlayRequestSchema, { capacity: 0 }));
    this.#after(ms, () => {
      this.leave();
      this.inbox.hurry();
    });
  }

  /** Send `leave` if the bot is playing or about to play; the server then ends the stream. */
  leave(): void {
    const left = this.#progress.playing.size + this.#progress.accepted.size;
    if (this.#call === undefined || !left) return this.end();
    if (this.#leaving) return;
    this.#leaving = true;
    log.info(`leaving ${matches(left)} in order: house bots play them on, and each counts as a last place`);
    this.#call.write(create(PlayRequestSchema, { leave: true }));
    this.#after(LEAVE_TIME, () => this.end());
  }

  /** Close the connection without notice. */
  end(): void {
    this.#end(new Ended());
  }

  /** Send a message on a session's stream, if the stream still exists. */
  say(session: number, request: PlayRequest): void {
    if (session === this.#session && this.#welcomed) this.#call?.write(request);
  }

  #after(ms: number, call: () => void): () => void {
    const callOff = this.clock.after(ms, () => {
      this.#alarms.delete(callOff);
      call();
    });
    this.#alarms.add(callOff);
    return () => {
      this.#alarms.delete(callOff);
      callOff();
    };
  }

  async #stay(): Promise<void> {
    const { clock, profile } = this;
    let good = clock.now();
    let seen = good;
    let probes = 0;
    for (;;) {
      const begun = clock.now();
      this.#welcomed = false;
      try {
        await this.#connect();
        if (this.#progress.parked) throw new ParkedError(this.#parked());
        return;
      } catch (error) {
        if (!(error instanceof DroppedError)) throw error;
        if (this.#leaving || (this.#progress.ending && !this.#progress.playing.size)) return;
        if (!this.#reached && probes++ < PROBES) {
          const why = await this.#until(this.obstacle());
          if (why) throw new UnreachableError(why);
        }
        const now = clock.now();
        if (this.#welcomed) {
          // The server can be reached, even if the stream ended at once and may do so again.
          good = now - begun > STEADY ? now : Math.max(good, now - LONGEST_WAIT);
          seen = now;
        }
        const wait = this.chance() * longestWait(now - good) + error.pause;
        if (profile.giveUpAfter !== undefined && now + wait - seen > profile.giveUpAfter * 1000) {
          throw new UnreachableError(`no connection to ${this.#addresses.current}: ${error.message}`);
        }
        log.warn(`no connection to ${this.#addresses.current}: ${error.message}; next try in ${(wait / 1000).toFixed(1)} s`);
        if (now + wait - seen > LEASE) this.#addresses.next();
        await this.#until(new Promise<void>((resolve) => this.#after(wait, resolve)));
      }
    }
  }

  /** Wait for a promise, or for the end. */
  #until<T>(something: Promise<T>): Promise<T> {
    return Promise.race([something, this.#ended]);
  }

  #parked(): string {
    const { address, token, tokenFile, tls } = this.profile;
    const why = this.#progress.parked.split("; mend it")[0];
    const roots = typeof tls === "string" ? ` --tls-roots ${tls}` : tls ? " --tls" : "";
    const file = token === undefined ? tokenFile : "FILE";
    const command = `arena-bot unpark ${this.#name} --server ${address} --token-file ${file}${roots}`;
    return `${why}. Mend it, then un-park it: ${command}${token === undefined ? "" : ", with its token in FILE"} (arena-bot comes with the Python SDK)`;
  }

  async #connect(): Promise<void> {
    const known = this.profile.token ?? readToken(this.profile.tokenFile);
    const channel = this.open(this.#addresses.current);
    try {
      const token = known ?? (await this.#until(this.#register(channel)));
      await this.#until(this.#converse(channel, token));
    } catch (error) {
      if (error instanceof TokenRefusedError && this.profile.token === undefined && known !== undefined && error.reason !== "TOKEN_REVOKED") {
        error.message += ` (from ${this.profile.tokenFile}; remove it to register the bot anew, and under another name if it was deleted here)`;
      }
      throw error;
    } finally {
      if (this.#welcomed) this.inbox.over(this.#session);
      this.#call?.cancel();
      this.#call = undefined;
      channel.close();
    }
  }

  async #register(channel: Channel): Promise<string> {
    const { address, invitation, name, owner, tokenFile } = this.profile;
    const made = new NewToken(tokenFile);
    let answer: RegisterBotResponse;
    try {
      answer = await channel.register(create(RegisterBotRequestSchema, { name, owner, invitation, token: made.token }), ANSWER_TIME);
    } catch (status) {
      const failure = registrationFailure(status as CallStatus);
      if (failure instanceof ArenaError) made.drop();
      throw failure;
    }
    made.keep(answer.token);
    log.info(`registered ${answer.name} at ${address}; its token is in ${tokenFile}`);
    return answer.token;
  }

  /** Play on one stream until nothing is left to play; throws the error for the stream's end. */
  #converse(channel: Channel, token: string): Promise<void> {
    return new Promise((resolve, reject) => {
      let session: Session | undefined;
      let finishing = false;
      const tooLate = this.#after(ANSWER_TIME, () => reject(new DroppedError(`no welcome within ${ANSWER_TIME / 1000} s`)));
      const hear = (bytes: Uint8Array) => {
        const received = this.clock.now();
        const message = fromBinary(PlayResponseSchema, bytes);
        const first = session === undefined;
        if (session === undefined) {
          tooLate();
          session = this.#welcome(message.welcome ?? create(WelcomeSchema));
        }
        const reply = session.receive(message);
        if (reply !== undefined) call.write(reply);
        if (first || concernsBot(message)) this.inbox.deliver(this.#session, bytes, received);
        if (this.#progress.done) {
          finishing = true;
          call.end();
          this.#after(ANSWER_TIME, resolve);
        }
      };
      const call = channel.play(token, {
        message: (bytes) => {
          try {
            if (!finishing) hear(bytes);
          } catch (error) {
            reject(error);
          }
        },
        ended: (status) => {
          tooLate();
          if (finishing) resolve(); // the status after a goodbye does not matter
          else reject(playFailure(status));
        },
      });
      this.#call = call;
      call.write(create(PlayRequestSchema, { hello: this.#hello() }));
    });
  }

  #welcome(welcome: Session["welcome"]): Session {
    const { games, capacity, challengers, ladders, events } = this.profile;
    log.info(`${welcome.bot} is connected to ${this.#addresses.current} (Arena ${welcome.server}${welcome.build && `, ${welcome.build}`})`);
    this.#name = welcome.bot;
    this.#addresses.list(welcome.nodes);
    this.#progress.reconnect();
    if (welcome.log?.head !== undefined) this.#progress.welcomed(welcome.log.head.size);
    const session = new Session(welcome, games, capacity, this.#progress, this.#receipts, challengers, ladders, events);
    this.#welcomed = this.#reached = true;
    this.#session += 1;
    if (welcome.log !== undefined) this.#receipts?.recordLog(welcome.log);
    return session;
  }

  #hello() {
    const { games, features, ladders, events, capacity: most, version, casual, challenges } = this.profile;
    const { reportsAfter } = this.#progress;
    const capacity = this.#progress.room(most);
    const client = `arena-client-typescript ${VERSION}`;
    const lists = { games: [...games], features: [...features], ladders: [...ladders], events: events.map((event) => ({ event, nonce: randomBytes(16) })) };
    return create(HelloSchema, { ...lists, capacity, client, version, casual, challenges, reportsAfter });
  }
}

const matches = (count: number) => (count === 1 ? "1 match" : `${count} matches`);
