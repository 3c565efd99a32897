// Delivers an answer to its output: nothing before the first fragment, the head with it, the bill at the end.
import type { Settlement } from '../ledger/ledger.ts';
import type { TextPrice, Tokens } from '../money/price.ts';
import type { Pressure } from '../stream/drive.ts';
import type { ReplyFinishPart, StreamPart } from '../stream/part.ts';
import type { SmartRouting } from '../stream/smart.ts';

/** Where an answer goes: a stream to the client, or a collector. */
export interface TextOutput {
  /** True if what is written is on its way to the client and cannot be taken back. */
  readonly live: boolean;
  /** The hold is made: a stream sends its status and headers now. */
  open(): void;
  /** Takes parts in order: `start`, `usage`, blocks, then `usage`, `finish`, `billing`, or an `error` at any point. */
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
  const { replyId, smart, buffered, inputTokens, onBegin } = options;
  let { model } = options;
  let begun = false;
  let hasText = false;
  const early: StreamPart[] = [];

  function write(parts: readonly StreamPart[]): Pressure {
    if (begun) return output.write(parts);
    for (const part of parts) {
      if (part.type === 'block-delta') hasText = true;
      if (part.type !== 'start' && part.type !== 'usage') early.push(part);
    }
    return hasText && !buffered ? begin([]) : undefined;
  }

  function begin(rest: readonly StreamPart[]): Pressure {
    begun = true;
    onBegin?.();
    const head: readonly StreamPart[] = [
      { type: 'usage', input: inputTokens(), output: 0 },
      { type: 'start', id: replyId, model, ...(smart && { smart }) },
    ];
    return output.write([...head, ...early.splice(0), ...rest]);
  }

  function complete(finish: ReplyFinishPart, bill: Tokens, paid: Settlement & { readonly price: TextPrice }): void {
    if (!begun && early.length === 0) {
      early.push({ type: 'block-start', index: 0, block: { type: 'text' } }, { type: 'block-end', index: 0 });
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
    if (begun) output.write(tail);
    else begin(tail);
  }

  return {
    write,
    complete,
    restart(answering) {
      model = answering;
      early.length = 0;
    },
    keepAlive: () => output.keepAlive(),
    flush() {
      if (!begun && early.length > 0) begin([]);
    },
    get begun() {
      return begun;
    },
  };
}
