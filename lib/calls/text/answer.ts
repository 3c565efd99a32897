// A text call and its money: what it holds, how it is asked for, and what it owes.
import assert from 'node:assert/strict';
import { capOutput } from '../../catalog/text-facts.ts';
import type { CallCost, Settlement } from '../../ledger/ledger.ts';
import type { NewAttempt } from '../../money/attempt.ts';
import type { Micro } from '../../money/money.ts';
import { countHeldTokens, type Tokens, textCost } from '../../money/price.ts';
import { MOVED_NAME, nameTokens } from '../../money/token-usage.ts';
import type { FinishPart, StreamPart } from '../../stream/part.ts';
import type { CallContext } from '../context.ts';
import type { Ending } from '../ending.ts';
import type { PaidCall } from '../paid.ts';
import { askRoutes } from '../routes.ts';
import type { AnswerLimits, PreparedCall } from './attempt-plan.ts';
import { TextAttempts } from './attempts.ts';
import { asVisionFailure } from './candidates.ts';
import { describeAnswer } from './facts.ts';
import { computeHold, listCacheWrites } from './hold.ts';
import { computeExcess, computeOvershoot } from './overshoot.ts';
import type { TextPipeline } from './pipeline.ts';

export interface TextAnswerDue extends CallCost {
  readonly bill: Tokens;
}

/** A class, because every open answer has one: closures would take three times the memory. */
export class TextAnswer<Out> implements PaidCall<FinishPart, TextAnswerDue> {
  readonly terms: PaidCall<unknown>['terms'];
  readonly #prepared: PreparedCall<Out>;
  /** The tokens that the hold covers. */
  readonly #held: Tokens;
  readonly #limits: AnswerLimits;
  #attempts: TextAttempts<Out> | undefined;

  constructor(prepared: PreparedCall<Out>) {
    const { request, model, candidates, estimate } = prepared;
    this.#prepared = prepared;
    const buffered = (candidates[0] ?? model).delivery === 'buffered';
    const { tokensHeld, audioTokens, documentsExcess, audioExcess } = estimate;
    const maxTokens = capOutput(model, request.maxTokens);
    this.#held = countHeldTokens({ input: tokensHeld, audio: audioTokens, maxTokens });
    this.terms = {
      kind: 'text',
      model: model.id,
      prices: model.prices,
      amount: computeHold(model, { tokensHeld, audioTokens, maxTokens, writes: listCacheWrites(model, request) }),
      excess: computeExcess(model.price, { buffered, documentsExcess, audioExcess }),
    };
    const outputMax = buffered ? Number.POSITIVE_INFINITY : maxTokens;
    this.#limits = { buffered, maxTokens, outputMax, amount: this.terms.amount };
  }

  get context(): CallContext {
    return this.#prepared.context;
  }

  get attempts(): readonly NewAttempt[] {
    return this.#attempts?.booked ?? [];
  }

  /** Async, so that it rejects instead of throwing; it waits for nothing, which would take memory of every open stream. */
  async ask(): Promise<Ending<FinishPart>> {
    const { request, output } = this.#prepared;
    output.sink.open();
    const attempts = new TextAttempts(this.#prepared, this.#limits);
    this.#attempts = attempts;
    const asking = askRoutes(attempts);
    if (request.images === 0) return asking;
    return asking.then((ending) => (attempts.isCommitted() ? ending : asVisionFailure(ending)));
  }

  overshoot(reserved: Micro): Micro {
    const pipe = this.#attempts?.pipe;
    if (!pipe) return 0n;
    return computeOvershoot({ model: this.#prepared.model, held: this.#held, meter: pipe.meter }, reserved);
  }

  /** Undefined if nothing is due. */
  computeDue(ending: Ending<FinishPart>): TextAnswerDue | undefined {
    const attempts = this.#attempts;
    const pipe = attempts?.pipe;
    return pipe && this.#isDue(ending, pipe) ? this.#bill(ending, attempts, pipe) : undefined;
  }

  /** Due are whole answers, parts that the client has received, and the work of an upstream whose client left. */
  #isDue({ type }: Ending, { delivery }: TextPipeline): boolean {
    return type === 'finish' || type === 'gone' || (this.#prepared.output.live && delivery.begun);
  }

  #bill(ending: Ending<FinishPart>, attempts: TextAttempts<Out>, pipe: TextPipeline): TextAnswerDue {
    const { model, context, request, smart } = this.#prepared;
    const { meter, stops } = pipe;
    const { counted, charged, doubt } = attempts.bill(ending, pipe);
    // If the client leaves, or the answer is stopped, the usage, which mostly comes last, may never arrive.
    const isExpected = ending.type === 'gone' || stops?.matched !== undefined;
    if (doubt && (meter.isInputAboveBound || !isExpected)) {
      const what = meter.hasReport ? 'an upstream reported implausible usage' : 'an upstream reported no usage';
      context.log.warn({ doubt }, `${what}; the call is billed by estimate`);
      context.log.note({ doubt });
    }
    const { answered } = attempts;
    const facts = describeAnswer({ asked: request.model, billed: model.id, answered, smart, ending });
    const moved = (charged.cacheRead ?? 0) - (counted.cacheRead ?? 0);
    const usage = { ...nameTokens(charged), ...(moved > 0 && { [MOVED_NAME]: moved }), ...facts };
    return { amount: textCost(model.price, charged), usage, bill: charged };
  }

  /** The parts of a paid answer that are still to be written. */
  complete(finish: FinishPart, bill: Tokens, paid: Settlement): readonly StreamPart[] {
    const pipe = this.#attempts?.pipe;
    assert(pipe, 'an answer comes from an attempt');
    return pipe.delivery.complete(finish, bill, { ...paid, price: this.#prepared.model.price });
  }
}
