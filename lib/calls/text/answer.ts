// A text call that runs: its hold, its attempts at the routes, and what it owes.
import assert from 'node:assert/strict';
import type { SmartRouting } from '../../base/smart-tiers.ts';
import type { TextModel } from '../../catalog/model.ts';
import { capOutput } from '../../catalog/text-facts.ts';
import type { CallCost, Settlement } from '../../ledger/ledger.ts';
import type { NewAttempt } from '../../money/attempt.ts';
import type { Micro } from '../../money/money.ts';
import { heldTokens, type PromptTokens, type Tokens, textCost } from '../../money/price.ts';
import { MOVED_NAME, nameTokens } from '../../money/token-usage.ts';
import type { ReplyFinishPart, StreamPart } from '../../stream/part.ts';
import { bookAttempt } from '../attempts.ts';
import type { CallContext } from '../context.ts';
import type { Ending } from '../ending.ts';
import type { RouteHealth } from '../health.ts';
import type { PaidCall } from '../paid.ts';
import { askRoutes, type OnAttempt, type RoutesOptions } from '../routes.ts';
import { type AttemptedCall, type AttemptOptions, TextAttempt, type TextTimeouts } from './attempt.ts';
import { digestBeginnings } from './beginnings.ts';
import { type CachedPrompt, type CachedPrompts, countAsRead } from './cached-prompts.ts';
import { allowCalls, asVisionFailure, type Candidate, createCall } from './candidates.ts';
import { describeAnswer } from './facts.ts';
import { computeHold, listCacheWrites } from './hold.ts';
import { releaseTextRequest } from './images.ts';
import type { TextOutput } from './output.ts';
import { computeOvershoot, computeUncappedExcess } from './overshoot.ts';
import type { CreateTransform, TextPipeline } from './pipeline.ts';
import type { InputEstimate, TextRequest } from './request.ts';
import { estimateTokens } from './tokens.ts';

/** What all answers share. */
export interface TextAnswering {
  readonly timeouts: TextTimeouts;
  readonly health: RouteHealth;
  readonly onAttempt?: OnAttempt | undefined;
  /** What prompts have in the caches of vendors. */
  readonly cachedPrompts: CachedPrompts;
  /** Transforms that an embedder adds to every answer. */
  readonly transforms?: readonly CreateTransform[] | undefined;
}

interface TextAnswerOptions<Out> {
  readonly request: TextRequest;
  /** Its price is that of the call. */
  readonly model: TextModel;
  readonly smart: SmartRouting | undefined;
  readonly candidates: readonly Candidate[];
  readonly context: CallContext;
  readonly output: TextOutput<Out>;
  readonly estimate: InputEstimate;
  readonly engine: TextAnswering;
}

export interface TextAnswerDue extends CallCost {
  readonly bill: Tokens;
}

interface CountedAnswer {
  readonly tokens: Tokens;
  /** Why a count is an estimate. */
  readonly doubt: string | undefined;
  readonly isWhole: boolean;
}

const NONE: readonly NewAttempt[] = [];

/** A class, because every open answer has one: closures would take three times the memory. */
export class TextAnswer<Out>
  implements PaidCall<ReplyFinishPart, TextAnswerDue>, RoutesOptions<Candidate, ReplyFinishPart>, AttemptedCall
{
  readonly terms: PaidCall<unknown>['terms'];
  deadline = 0;
  readonly #options: TextAnswerOptions<Out>;
  /** The tokens that the hold covers. */
  readonly #held: Tokens;
  readonly #buffered: boolean;
  /** As requested, or the maximum of the model. */
  readonly #maxTokens: number;
  /** The maximum of output tokens delivered and billed. */
  readonly #outputMax: number;
  /** The latest attempt. */
  #attempt: TextAttempt<Out> | undefined;
  /** The candidate of that attempt. */
  #asked: Candidate | undefined;
  /** The usage of the latest attempt, once it has ended. */
  #counted: CountedAnswer | undefined;
  /** The attempts that have ended. */
  #attempts: readonly NewAttempt[] = NONE;
  /** Called at the first text of the attempt. */
  #onFirst: (() => void) | undefined;
  /** The digest of the prompt, and the part of it that a vendor has cached; undefined without a conversation. */
  #prompt:
    | { readonly conversation: string; readonly digest: string; readonly cached: CachedPrompt | undefined }
    | undefined;

  constructor(options: TextAnswerOptions<Out>) {
    const { request, model, candidates, estimate } = options;
    this.#options = options;
    this.#buffered = (candidates[0] ?? model).delivery === 'buffered';
    const { tokensHeld } = estimate;
    const maxTokens = capOutput(model, request.maxTokens);
    this.#maxTokens = maxTokens;
    this.#outputMax = this.#buffered ? Number.POSITIVE_INFINITY : maxTokens;
    this.#held = heldTokens({ input: tokensHeld, maxTokens });
    this.terms = {
      kind: 'text',
      model: model.id,
      prices: model.prices,
      amount: computeHold(model, { tokensHeld, maxTokens, writes: listCacheWrites(model, request) }),
      // An answer without a cap may cost more than its hold.
      excess: this.#buffered ? computeUncappedExcess(model.price) : undefined,
    };
  }

  get context(): CallContext {
    return this.#options.context;
  }

  get routes(): readonly Candidate[] {
    return this.#options.candidates;
  }

  get health(): RouteHealth {
    return this.#options.engine.health;
  }

  get onAttempt(): OnAttempt | undefined {
    return this.#options.engine.onAttempt;
  }

  ask(): Promise<Ending<ReplyFinishPart>> {
    const { request, output, engine } = this.#options;
    output.sink.open();
    this.deadline = performance.now() + engine.timeouts.totalTimeoutMs;
    const asking = askRoutes(this);
    return request.images > 0 ? asking.then((ending) => this.#nameVisionFailure(ending)) : asking;
  }

  #nameVisionFailure(ending: Ending<ReplyFinishPart>): Ending<ReplyFinishPart> {
    return this.isCommitted() ? ending : asVisionFailure(ending);
  }

  attempt(candidate: Candidate, onFirst: () => void): Promise<Ending<ReplyFinishPart>> {
    // Each attempt starts its own heartbeats: otherwise the silence between two attempts could be too long.
    if (this.#asked !== undefined) this.#options.output.sink.keepAlive();
    this.#asked = candidate;
    this.#onFirst = onFirst;
    this.#findCached(candidate);
    this.#attempt = new TextAttempt(this.#planAttempt(candidate));
    return this.#attempt.start(candidate.route);
  }

  onEnded(ending: Ending<ReplyFinishPart>): void {
    if (!this.#attempt || !this.#asked) return;
    const { run, startedAt, firstAt, pipe } = this.#attempt;
    const counted = this.#count(ending, pipe);
    const { route, model } = this.#asked;
    // What the vendor bills is its own report, even where its customer is not charged for all of it.
    const reported = ending.type === 'finish' && counted.isWhole ? pipe.meter.reported : undefined;
    const usage = nameTokens(reported ?? counted.tokens);
    const used = { usage, isReported: reported !== undefined, hasOutput: counted.tokens.output > 0 };
    const answerId = pipe.delivery.answerId || undefined;
    const rows = bookAttempt({ model, route, run, ending, used, startedAt, firstAt, answerId });
    this.#counted = counted;
    this.#attempts = [...this.#attempts, ...rows];
  }

  get attempts(): readonly NewAttempt[] {
    return this.#attempts;
  }

  get #pipe(): TextPipeline | undefined {
    return this.#attempt?.pipe;
  }

  #planAttempt({ route, model, abilities, firstTokenMs }: Candidate): AttemptOptions<Out> {
    const { request, context, output, smart, estimate, candidates, engine } = this.#options;
    const buffered = this.#buffered;
    const outputMax = this.#outputMax;
    return {
      route,
      call: this,
      pipeline: {
        guard: {
          outputMax,
          calls: allowCalls(request, abilities),
          showsReasoning: !buffered && request.showsReasoning === true,
        },
        meter: {
          trusted: !buffered,
          inputEstimate: buffered ? estimate.tokensBuffered : estimate.tokens,
          inputMax: estimate.tokensMax + Math.max(0, ...candidates.map(({ additions }) => additions)),
          outputMax,
          estimateTokens,
          images: estimate.images,
        },
        extra: engine.transforms ?? [],
        delivery: { replyId: context.requestId, model, smart, buffered },
      },
      stops: request.stops,
      output,
      signal: context.signal,
      timeouts:
        firstTokenMs === undefined ? engine.timeouts : { ...engine.timeouts, firstTokenTimeoutMs: firstTokenMs },
      deadline: this.deadline,
    };
  }

  createCall(): ReturnType<AttemptedCall['createCall']> {
    assert(this.#asked, 'a request is made for a route');
    const { abilities, conversation } = this.#asked;
    const call = createCall(this.#options.request, abilities, this.#maxTokens);
    return conversation === undefined ? call : { ...call, conversation };
  }

  onText(): void {
    const { request, context } = this.#options;
    this.#onFirst?.();
    this.#onFirst = undefined;
    releaseTextRequest(request);
    context.releaseRequest?.();
  }

  onBegin(): void {
    this.#options.context.onFirst();
  }

  promptAsBilled(counted: PromptTokens): PromptTokens {
    return this.#prompt ? this.#forgiveMove({ ...counted, output: 0 }) : counted;
  }

  /** Once text has arrived, another route's answer could not continue it. */
  isCommitted(): boolean {
    return this.#pipe?.delivery.hasText === true;
  }

  /** Whether the hold pays for what has been used so far. */
  isCovered(): boolean {
    const used = this.#pipe?.meter.used();
    return used === undefined || textCost(this.#options.model.price, used) <= this.terms.amount;
  }

  overshoot(reserved: Micro): Micro {
    if (!this.#pipe) return 0n;
    return computeOvershoot({ model: this.#options.model, held: this.#held, meter: this.#pipe.meter }, reserved);
  }

  /** Undefined if nothing is owed. */
  owed(ending: Ending<ReplyFinishPart>): TextAnswerDue | undefined {
    const pipe = this.#pipe;
    return pipe && this.#isOwed(ending, pipe) ? this.#computeDue(ending, pipe) : undefined;
  }

  /** Owed are whole answers, parts that the client has received, and the work of an upstream whose client left. */
  #isOwed({ type }: Ending, { delivery }: TextPipeline): boolean {
    return type === 'finish' || type === 'gone' || (this.#options.output.live && delivery.begun);
  }

  #count(ending: Ending, { guard, meter, stops }: TextPipeline): CountedAnswer {
    // Content after a finish makes an answer whole only at its end; one that was stopped may lack its counts.
    const isWhole = guard.finished || (ending.type === 'finish' && stops?.matched === undefined);
    const { doubt, ...tokens } = meter.bill(isWhole ? 'finished' : 'cut');
    return { tokens, doubt, isWhole };
  }

  #computeDue(ending: Ending<ReplyFinishPart>, pipe: TextPipeline): TextAnswerDue {
    const { model, context, request, smart } = this.#options;
    const { meter, stops } = pipe;
    const { tokens: counted, doubt } = this.#counted ?? this.#count(ending, pipe);
    // If the client leaves, or the answer is stopped, the usage, which mostly comes last, may never arrive.
    const isExpected = ending.type === 'gone' || stops?.matched !== undefined;
    if (doubt && (meter.isInputAboveBound || !isExpected)) {
      context.log.warn({ doubt }, 'an upstream reported implausible usage; the call is billed by estimate');
      context.log.note({ doubt });
    }
    const answered = this.#asked?.model;
    const facts = describeAnswer({ asked: request.model, billed: model.id, answered, smart, ending });
    const tokens = this.#forgiveMove(counted);
    const moved = (tokens.cacheRead ?? 0) - (counted.cacheRead ?? 0);
    this.#noteCached(counted);
    const usage = { ...nameTokens(tokens), ...(moved > 0 && { [MOVED_NAME]: moved }), ...facts };
    return { amount: textCost(model.price, tokens), usage, bill: tokens };
  }

  /** Called while the request is still in memory; another model has other caches. */
  #findCached({ conversation }: Candidate): void {
    if (conversation === this.#prompt?.conversation) return;
    this.#prompt = undefined;
    if (conversation === undefined) return;
    const { request, engine } = this.#options;
    const beginnings = digestBeginnings(conversation, request);
    const digest = beginnings.at(-1);
    if (digest !== undefined) this.#prompt = { conversation, digest, cached: engine.cachedPrompts.find(beginnings) };
  }

  /** If the gateway moved a conversation to another cache, the prompt is charged as if it had been read there. */
  #forgiveMove(counted: Tokens): Tokens {
    const cached = this.#prompt?.cached;
    if (!cached || cached.place === this.#place) return counted;
    const { price } = this.#options.model;
    const asRead = countAsRead(counted, cached.tokens);
    return textCost(price, asRead) < textCost(price, counted) ? asRead : counted;
  }

  #noteCached(counted: Tokens): void {
    if (!this.#prompt) return;
    const { digest, cached } = this.#prompt;
    this.#options.engine.cachedPrompts.note(digest, this.#place, counted, cached);
  }

  /** The place of the vendor's cache: a route and a key. */
  get #place(): string {
    return `${this.#asked?.key} ${this.#attempt?.run.keyId}`;
  }

  /** The parts of a paid answer that are still to be written. */
  complete(finish: ReplyFinishPart, bill: Tokens, paid: Settlement): readonly StreamPart[] {
    const { model } = this.#options;
    assert(this.#pipe, 'an answer comes from an attempt');
    return this.#pipe.delivery.complete(finish, bill, { ...paid, price: model.price });
  }
}
