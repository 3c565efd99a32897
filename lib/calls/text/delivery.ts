// Delivers an answer to its output: nothing before the first fragment, the head with it, the bill at the end.

import type { SmartRouting } from '../../base/smart-tiers.ts';
import type { Settlement } from '../../ledger/ledger.ts';
import type { TextPrice, Tokens } from '../../money/price.ts';
import type { Pressure } from '../../stream/drive.ts';
import type { ReplyFinishPart, StreamPart } from '../../stream/part.ts';

/** Where an answer goes: a stream to the client, or a collector. */
export interface TextOutput {
  /** True if what is written is on its way to the client and cannot be taken back. */
  readonly live: boolean;
  /** The hold is made: a stream sends its status and headers now. */
  open(): void;
  /**
   * Takes parts in order: `start`, `usage`, blocks, then `usage`, `finish`, `billing`, or an `error` at any point, whose
   * fault is thrown by an output that is not live.
   */
  write(parts: readonly StreamPart[]): Pressure;
  /** Nothing has arrived yet, but the connection is alive. */
  keepAlive(): void;
  /** Nothing follows. */
  end(): void;
}

export interface DeliveryOptions {
  /** The reply's id without the dialect's prefix. */
  readonly replyId: string;
  /** The model that answers. */
  readonly model: string;
  /** How the smart model chose it; undefined if the client named it. */
  readonly smart?: SmartRouting | undefined;
  /** Holds everything back until `complete`. */
  readonly buffered: boolean;
  /** Input tokens as known at the first fragment. */
  readonly inputTokens: () => number;
  /** Called before the first fragment is written. */
  readonly onBegin?: () => void;
}

export interface Delivery {
  write(parts: readonly StreamPart[]): Pressure;
  /** Forgets what an upstream sent before it failed without text; `model` answers from here on. */
  restart(model: string): void;
  keepAlive(): void;
  /** Passes on what was held back of a buffered answer. */
  flush(): void;
  complete(finish: ReplyFinishPart, bill: Tokens, paid: Settlement & { readonly price: TextPrice }): void;
  /** True once a fragment was written. */
  readonly begun: boolean;
}

export function createDelivery(output: TextOutput, options: DeliveryOptions): Delivery {
  return new AnswerDelivery(output, options);
}

/** A class, because every open answer has one: closures would take three times the memory. */
class AnswerDelivery implements Delivery {
  begun = false;
  readonly #output: TextOutput;
  readonly #options: DeliveryOptions;
  #model: string;
  #hasText = false;
  /** What is held back until the first fragment. */
  #early: StreamPart[] = [];

  constructor(output: TextOutput, options: DeliveryOptions) {
    this.#output = output;
    this.#options = options;
    this.#model = options.model;
  }

  write(parts: readonly StreamPart[]): Pressure {
    if (this.begun) return this.#output.write(parts);
    for (const part of parts) {
      if (part.type === 'block-delta') this.#hasText = true;
      if (part.type !== 'start' && part.type !== 'usage') this.#early.push(part);
    }
    return this.#hasText && !this.#options.buffered ? this.#begin([]) : undefined;
  }

  restart(model: string): void {
    this.#model = model;
    this.#early = [];
  }

  keepAlive(): void {
    this.#output.keepAlive();
  }

  flush(): void {
    if (!this.begun && this.#early.length > 0) this.#begin([]);
  }

  complete(finish: ReplyFinishPart, bill: Tokens, paid: Settlement & { readonly price: TextPrice }): void {
    if (!this.begun && this.#early.length === 0) {
      this.#early = [
        { type: 'block-start', index: 0, block: { type: 'text' } },
        { type: 'block-end', index: 0 },
      ];
    }
    const tail: readonly StreamPart[] = [
      { type: 'usage', input: bill.input, output: bill.output },
      finish,
      {
        type: 'billing',
        charged: paid.charged,
        reserved: paid.reserved,
        balance: paid.balance,
        priceInput: paid.price.input,
        priceOutput: paid.price.output,
      },
    ];
    if (this.begun) this.#output.write(tail);
    else this.#begin(tail);
  }

  #begin(rest: readonly StreamPart[]): Pressure {
    const { replyId, smart, inputTokens, onBegin } = this.#options;
    this.begun = true;
    onBegin?.();
    const parts: readonly StreamPart[] = [
      { type: 'usage', input: inputTokens(), output: 0 },
      { type: 'start', id: replyId, model: this.#model, ...(smart && { smart }) },
      ...this.#early,
      ...rest,
    ];
    this.#early = [];
    return this.#output.write(parts);
  }
}
