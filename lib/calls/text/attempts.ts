// The attempts of a text call at its routes: what each of them asks and may use, and what the latest has used.
import assert from 'node:assert/strict';
import type { NewAttempt } from '../../money/attempt.ts';
import { type PromptTokens, type Tokens, textCost } from '../../money/price.ts';
import { nameTokens } from '../../money/token-usage.ts';
import type { FinishPart } from '../../stream/part.ts';
import { bookAttempt } from '../booked-attempts.ts';
import type { CallContext } from '../context.ts';
import type { Ending } from '../ending.ts';
import type { RouteHealth } from '../health.ts';
import type { OnAttempt, RoutesOptions } from '../routes.ts';
import { type AttemptedCall, TextAttempt } from './attempt.ts';
import { type AnswerLimits, type PreparedCall, planAttempt } from './attempt-plan.ts';
import { type Candidate, createCall } from './candidates.ts';
import { ConversationPrompt } from './conversation-prompt.ts';
import type { TextPipeline } from './pipeline.ts';
import { releaseTextRequest } from './request-memory.ts';
import { dropStates, hasStates, isRefusedForStates } from './states.ts';

interface CountedAnswer {
  readonly tokens: Tokens;
  /** Why a count is an estimate. */
  readonly doubt: string | undefined;
  readonly isWhole: boolean;
}

interface AnswerBill extends Pick<CountedAnswer, 'doubt'> {
  readonly counted: Tokens;
  readonly charged: Tokens;
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
  /** Undefined without a conversation. */
  #prompt: ConversationPrompt | undefined;

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
    if (this.#asked !== undefined) this.#prepared.output.sink.heartbeat();
    this.#asked = candidate;
    this.#onFirst = onFirst;
    this.#readPrompt(candidate);
    const plan = planAttempt(this.#prepared, candidate, this.#limits);
    this.#attempt = new TextAttempt({ ...plan, call: this, deadline: this.deadline });
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
    return this.#forgiveMove({ ...counted, output: 0 });
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

  /** What the latest attempt has used, and what of it is charged; what is in its vendor's cache now is noted. */
  bill(ending: Ending, pipe: TextPipeline): AnswerBill {
    const { tokens: counted, doubt } = this.#counted ?? countAnswer(ending, pipe);
    this.#prompt?.note(this.#place, counted);
    return { counted, charged: this.#forgiveMove(counted), doubt };
  }

  /** Called while the request is still in memory; another model has other caches. */
  #readPrompt({ conversation }: Candidate): void {
    if (conversation === this.#prompt?.conversation) return;
    const { request, engine } = this.#prepared;
    this.#prompt =
      conversation === undefined ? undefined : new ConversationPrompt(conversation, request, engine.cachedPrompts);
  }

  #forgiveMove(counted: Tokens): Tokens {
    return this.#prompt?.forgiveMove(this.#place, counted, this.#prepared.model.price) ?? counted;
  }

  /** Of the vendor's cache: a route and a key. */
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
