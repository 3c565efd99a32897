// The attempts of a text call at its routes: what each of them asks and may use, and what the latest has used.
import assert from 'node:assert/strict';
import type { SmartRouting } from '../../base/smart-tiers.ts';
import type { TextModel } from '../../catalog/model.ts';
import type { NewAttempt } from '../../money/attempt.ts';
import type { Micro } from '../../money/money.ts';
import { type PromptTokens, type Tokens, textCost } from '../../money/price.ts';
import { nameTokens } from '../../money/token-usage.ts';
import type { FinishPart } from '../../stream/part.ts';
import { bookAttempt } from '../attempts.ts';
import type { CallContext } from '../context.ts';
import type { Ending } from '../ending.ts';
import type { RouteHealth } from '../health.ts';
import type { OnAttempt, RoutesOptions } from '../routes.ts';
import { type AttemptedCall, type AttemptOptions, TextAttempt, type TextTimeouts } from './attempt.ts';
import { digestBeginnings } from './beginnings.ts';
import { type CachedPrompt, type CachedPrompts, countAsRead } from './cached-prompts.ts';
import { allowCalls, type Candidate, createCall } from './candidates.ts';
import type { CreateTransform } from './embedder-transform.ts';
import type { TextOutput } from './output.ts';
import type { TextPipeline } from './pipeline.ts';
import type { InputEstimate, TextRequest } from './request.ts';
import { releaseTextRequest } from './request-memory.ts';
import { dropStates, hasStates, isRefusedForStates } from './states.ts';
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

/** A request with everything that is known before it is answered. */
export interface PreparedCall<Out> {
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

export interface AnswerLimits {
  /** Whether the answer comes as a whole, from an upstream whose counts are not used. */
  readonly buffered: boolean;
  /** As requested, or the maximum of the model. */
  readonly maxTokens: number;
  /** The maximum of output tokens delivered and billed. */
  readonly outputMax: number;
  /** What is held. */
  readonly amount: Micro;
}

interface CountedAnswer {
  readonly tokens: Tokens;
  /** Why a count is an estimate. */
  readonly doubt: string | undefined;
  readonly isWhole: boolean;
}

const NONE: readonly NewAttempt[] = [];

/** A class, because every open answer has one: closures would take three times the memory. */
export class TextAttempts<Out> implements RoutesOptions<Candidate, FinishPart>, AttemptedCall {
  readonly deadline: number;
  /** The attempts that have ended. */
  booked: readonly NewAttempt[] = NONE;
  readonly #prepared: PreparedCall<Out>;
  readonly #limits: AnswerLimits;
  /** The latest attempt. */
  #attempt: TextAttempt<Out> | undefined;
  /** The candidate of that attempt. */
  #asked: Candidate | undefined;
  /** The usage of the latest attempt, once it has ended. */
  #counted: CountedAnswer | undefined;
  /** Called at the first text of the attempt. */
  #onFirst: (() => void) | undefined;
  /** The answer had to wait for room. */
  #hasWaited = false;
  /** An upstream has refused the states of earlier answers. */
  #dropsStates = false;
  /** The digest of the prompt, and the part of it that a vendor has cached; undefined without a conversation. */
  #prompt:
    | { readonly conversation: string; readonly digest: string; readonly cached: CachedPrompt | undefined }
    | undefined;

  constructor(prepared: PreparedCall<Out>, limits: AnswerLimits) {
    this.#prepared = prepared;
    this.#limits = limits;
    this.deadline = performance.now() + prepared.engine.timeouts.totalTimeoutMs;
  }

  get context(): CallContext {
    return this.#prepared.context;
  }

  get routes(): readonly Candidate[] {
    return this.#prepared.candidates;
  }

  get health(): RouteHealth {
    return this.#prepared.engine.health;
  }

  get onAttempt(): OnAttempt | undefined {
    return this.#prepared.engine.onAttempt;
  }

  /** The transforms of the latest attempt, with their counts so far. */
  get pipe(): TextPipeline | undefined {
    return this.#attempt?.pipe;
  }

  /** The model that was asked last. */
  get answered(): string | undefined {
    return this.#asked?.model;
  }

  attempt(candidate: Candidate, onFirst: () => void): Promise<Ending<FinishPart>> {
    // Each attempt starts its own heartbeats: otherwise the silence between two attempts could be too long.
    if (this.#asked !== undefined) this.#prepared.output.sink.keepAlive();
    this.#asked = candidate;
    this.#onFirst = onFirst;
    this.#findCached(candidate);
    this.#attempt = new TextAttempt(this.#planAttempt(candidate));
    return this.#attempt.start(candidate.route);
  }

  onEnded(ending: Ending<FinishPart>): void {
    if (!this.#attempt || !this.#asked) return;
    const { run, startedAt, firstAt, pipe } = this.#attempt;
    const counted = countAnswer(ending, pipe);
    const { route, model } = this.#asked;
    // What the vendor bills is its own report, even where its customer is not charged for all of it.
    const reported = ending.type === 'finish' && counted.isWhole ? pipe.meter.reported : undefined;
    const usage = nameTokens(reported ?? counted.tokens);
    const used = { usage, isReported: reported !== undefined, hasOutput: counted.tokens.output > 0 };
    const answerId = pipe.delivery.answerId || undefined;
    const rows = bookAttempt({ model, route, run, ending, used, startedAt, firstAt, answerId });
    this.#counted = counted;
    // Of a failed attempt nothing is held any more: another one begins anew.
    if (ending.type !== 'finish') this.#prepared.context.answerMemory?.releaseAll();
    this.booked = [...this.booked, ...rows];
  }

  /** Once: without the states of earlier answers, if they are what the upstream refuses. */
  mendsRequest(ending: Ending<FinishPart>): boolean {
    if (this.#dropsStates || this.isCommitted() || !isRefusedForStates(ending)) return false;
    this.#dropsStates = hasStates(this.#prepared.request.messages);
    return this.#dropsStates;
  }

  #planAttempt({ route, model, abilities, firstTokenMs }: Candidate): AttemptOptions<Out> {
    const { request, context, output, smart, estimate, candidates, engine } = this.#prepared;
    const { buffered, outputMax } = this.#limits;
    return {
      route,
      call: this,
      pipeline: {
        guard: {
          outputMax,
          calls: allowCalls(request, abilities),
          toolNames: request.tools?.list.map(({ name }) => name),
          stops: request.stops,
          showsReasoning: !buffered && request.showsReasoning === true,
          memory: context.answerMemory,
        },
        meter: {
          trusted: !buffered,
          inputEstimate: buffered ? estimate.tokensBuffered : estimate.tokens,
          audioEstimate: estimate.audioTokens,
          inputMax: estimate.tokensMax + Math.max(0, ...candidates.map(({ additions }) => additions)),
          outputMax,
          estimateTokens,
          images: estimate.images,
        },
        extra: engine.transforms ?? [],
        delivery: { replyId: context.requestId, model, smart, buffered: buffered || request.buffersAnswer === true },
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
    const { request } = this.#prepared;
    const asked = this.#dropsStates ? { ...request, messages: dropStates(request.messages) } : request;
    const call = createCall(asked, abilities, this.#limits.maxTokens);
    return conversation === undefined ? call : { ...call, conversation };
  }

  onText(): void {
    this.#onFirst?.();
    this.#onFirst = undefined;
    this.#releaseRequest();
  }

  #releaseRequest(): void {
    const { request, context } = this.#prepared;
    releaseTextRequest(request);
    context.releaseRequest?.();
  }

  /** There is no room for the request beside the answer, which would wait for it. */
  onWait(): void {
    this.#hasWaited = true;
    this.#releaseRequest();
  }

  onBegin(): void {
    this.#prepared.context.onFirst();
  }

  promptAsBilled(counted: PromptTokens): PromptTokens {
    return this.#prompt ? this.forgiveMove({ ...counted, output: 0 }) : counted;
  }

  /** Once text has arrived, another route's answer could not continue it; nor can it be asked without the request. */
  isCommitted(): boolean {
    return this.#hasWaited || this.pipe?.delivery.hasText === true;
  }

  /** Whether the hold pays for what has been used so far. */
  isCovered(): boolean {
    const used = this.pipe?.meter.used();
    return used === undefined || textCost(this.#prepared.model.price, used) <= this.#limits.amount;
  }

  /** What the latest attempt has used. */
  count(ending: Ending, pipe: TextPipeline): CountedAnswer {
    return this.#counted ?? countAnswer(ending, pipe);
  }

  /** Called while the request is still in memory; another model has other caches. */
  #findCached({ conversation }: Candidate): void {
    if (conversation === this.#prompt?.conversation) return;
    this.#prompt = undefined;
    if (conversation === undefined) return;
    const { request, engine } = this.#prepared;
    const beginnings = digestBeginnings(conversation, request);
    const digest = beginnings.at(-1);
    if (digest !== undefined) this.#prompt = { conversation, digest, cached: engine.cachedPrompts.find(beginnings) };
  }

  /** If the gateway moved a conversation to another cache, the prompt is charged as if it had been read there. */
  forgiveMove(counted: Tokens): Tokens {
    const cached = this.#prompt?.cached;
    if (!cached || cached.place === this.#place) return counted;
    const { price } = this.#prepared.model;
    const asRead = countAsRead(counted, cached.tokens);
    return textCost(price, asRead) < textCost(price, counted) ? asRead : counted;
  }

  noteCached(counted: Tokens): void {
    if (!this.#prompt) return;
    const { digest, cached } = this.#prompt;
    this.#prepared.engine.cachedPrompts.note(digest, this.#place, counted, cached);
  }

  /** The place of the vendor's cache: a route and a key. */
  get #place(): string {
    return `${this.#asked?.key} ${this.#attempt?.run.keyId}`;
  }
}

function countAnswer(ending: Ending, { guard, meter, stops }: TextPipeline): CountedAnswer {
  // Content after a finish makes an answer whole only at its end; one that was stopped may lack its counts.
  const isWhole = guard.finished || (ending.type === 'finish' && stops?.matched === undefined);
  const { doubt, ...tokens } = meter.bill(isWhole ? 'finished' : 'cut');
  return { tokens, doubt, isWhole };
}
