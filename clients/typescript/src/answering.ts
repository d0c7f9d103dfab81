// The bot's waiting messages, and the loop that passes them to the bot's code.

import { fromBinary } from "@bufbuild/protobuf";

import { type Caller, Interrupted } from "./caller.js";
import type { Inbox } from "./connection.js";
import { type Catalog, catalogOf } from "./decision.js";
import { type PlayRequest, PlayResponseSchema } from "./v1/arena/v1/play_pb.js";

interface Delivery {
  session: number;
  bytes: Uint8Array;
  received: number;
}

/** Deliveries for one bot in order, followed by an end. */
export class Answering implements Inbox {
  readonly #deliveries: Delivery[] = [];
  #over = 0;
  #games = new Map<string, Catalog>();
  #ended = false;
  #error: unknown;
  #wake: () => void = () => {};

  /** `say` sends the bot's replies; `pause` is awaited between them, so that other work gets its turn. */
  constructor(
    private readonly caller: Caller,
    private readonly say: (session: number, request: PlayRequest) => void,
    private readonly pause: () => Promise<void> = async () => {},
  ) {}

  deliver(session: number, bytes: Uint8Array, received: number): void {
    this.#deliveries.push({ session, bytes, received });
    this.#wake();
  }

  over(session: number): void {
    this.#over = session;
  }

  hurry(): void {
    this.caller.interrupt();
  }

  /** Close the queue; `error`: the reason if the connection ended badly. */
  end(error?: unknown): void {
    [this.#ended, this.#error] = [true, error];
    this.#wake();
  }

  /** Call the bot for each message, until the end. Throws the bot's errors and that of the end. */
  async answer(): Promise<void> {
    for (;;) {
      const delivery = this.#deliveries.shift();
      if (delivery !== undefined) {
        await this.#react(delivery);
        await this.pause();
      } else if (this.#ended) {
        if (this.#error !== undefined) throw this.#error;
        return;
      } else {
        await new Promise<void>((resolve) => (this.#wake = resolve));
      }
    }
  }

  async #react({ session, bytes, received }: Delivery): Promise<void> {
    const message = fromBinary(PlayResponseSchema, bytes);
    if (message.welcome !== undefined) this.#games = new Map(message.welcome.games.map((game) => [game.name, catalogOf(game)]));
    try {
      for await (const request of this.caller.react(message, this.#games, received, session > this.#over)) {
        this.say(session, request);
        await this.pause();
      }
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      this.#deliveries.length = 0; // after a stop the bot makes no more decisions
    }
  }
}
