// The bot's waiting messages, and the loop that passes them to the bot's code.

import { fromBinary } from "@bufbuild/protobuf";

import { type Caller, Interrupted } from "./caller.js";
import type { Inbox } from "./connection.js";
import { type Catalog, catalogOf } from "./decision.js";
import { Questions } from "./questions.js";
import { type PlayRequest, type PlayResponse, PlayResponseSchema } from "./v1/arena/v1/play_pb.js";

interface Delivery {
  session: number;
  message: PlayResponse;
  questions: Questions;
  received: number;
}

/** Deliveries for one bot, in order, until the connection ends. */
export class Answering implements Inbox {
  readonly #deliveries: Delivery[] = [];
  #over = 0;
  #session = 0;
  /** The open decisions of the latest session. */
  #questions = new Questions();
  #games = new Map<string, Catalog>();
  #ended = false;
  #error: unknown;
  #wake: () => void = () => {};

  /** `say` sends the bot's replies. */
  constructor(private readonly caller: Caller, private readonly say: (session: number, request: PlayRequest) => void) {}

  deliver(session: number, bytes: Uint8Array, received: number): void {
    if (session !== this.#session) [this.#session, this.#questions] = [session, new Questions()];
    const message = fromBinary(PlayResponseSchema, bytes);
    this.#questions.receive(message);
    this.#deliveries.push({ session, message, questions: this.#questions, received });
    this.#wake();
  }

  over(session: number): void {
    this.#over = session;
  }

  /** Stop calling the bot, and abort the signals of its open decisions. */
  hurry(): void {
    this.caller.interrupt();
    this.#questions.closeAll();
  }

  /** Close the queue. `error`: the reason if the connection ended because of an error. */
  end(error?: unknown): void {
    [this.#ended, this.#error] = [true, error];
    this.#wake();
  }

  /** Call the bot for each message, until the end. Throws the bot's errors, and the error given to `end`. */
  async answer(): Promise<void> {
    for (;;) {
      const delivery = this.#deliveries.shift();
      if (delivery !== undefined) {
        await this.#react(delivery);
      } else if (this.#ended) {
        if (this.#error !== undefined) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  async #react({ session, message, questions, received }: Delivery): Promise<void> {
    if (message.welcome !== undefined) this.#games = new Map(message.welcome.games.map((game) => [game.name, catalogOf(game)]));
    try {
      for await (const request of this.caller.react(message, this.#games, questions, received, session > this.#over)) {
        this.say(session, request);
      }
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      this.#deliveries.length = 0; // after a stop the bot makes no more decisions
    }
  }
}
