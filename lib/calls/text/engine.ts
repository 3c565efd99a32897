// The text engine shared by both dialects: what a text call holds, how it is answered, and what it costs.
import assert from 'node:assert/strict';
import { fault, refundedFault } from '../../base/faults.ts';
import type { SmartRouting } from '../../base/smart-tiers.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Route, TextModel } from '../../catalog/model.ts';
import type { CallCost } from '../../ledger/ledger.ts';
import type { Micro } from '../../money/money.ts';
import { heldTokens, type Tokens, textCost } from '../../money/price.ts';
import type { Pressure } from '../../stream/drive.ts';
import type { CallsAllowed } from '../../stream/guard.ts';
import { createMeter, type Meter } from '../../stream/meter.ts';
import type { ReplyFinishPart, StreamPart } from '../../stream/part.ts';
import type { TextCall } from '../../upstream/contract/provider.ts';
import type { CallContext } from '../context.ts';
import type { Ending } from '../ending.ts';
import type { RouteHealth, RouteRef } from '../health.ts';
import type { PaidCall, PaidCalls, PaidEnding } from '../paid.ts';
import { askRoutes, type OnAttempt, type RoutesOptions } from '../routes.ts';
import { type Abilities, formatFor, preferAble, unableTo } from './abilities.ts';
import { type AnswerSink, attempt, type TextTimeouts } from './attempt.ts';
import { chooseModel } from './choice.ts';
import { createDelivery, type Delivery, type TextOutput } from './delivery.ts';
import { estimateInput, UPSTREAM_ADDITIONS } from './estimate.ts';
import { factsOf } from './facts.ts';
import { excessOf, overshootOf } from './overshoot.ts';
import { letGo, messagesOf } from './pictures.ts';
import { reasoningOf } from './reasoning.ts';
import type { InputEstimate, TextRequest } from './request.ts';
import { createStops, type Stops } from './stops.ts';
import { usesTools, withoutTools } from './tools.ts';

export interface TextEngineOptions {
  /** The current catalog. */
  readonly catalog: () => Catalog;
  readonly paidCalls: PaidCalls;
  readonly timeouts: TextTimeouts;
  readonly health: RouteHealth;
  readonly onAttempt?: OnAttempt | undefined;
}

export interface TextEngine {
  /**
   * Runs one call including its money. Rejects with a fault if it fails before the output is opened, or later if the
   * output is not live; on a live output a later failure is an `error` part.
   */
  run(request: TextRequest, context: CallContext, output: TextOutput): Promise<void>;
}

export function createTextEngine(options: TextEngineOptions): TextEngine {
  const { catalog, paidCalls, health } = options;
  return {
    async run(request, context, output) {
      const { model, smart } = chooseModel(catalog(), request, context.limits);
      context.log.note({ model: model.id, ...(smart && { smart_tier: smart.tier, smart_score: smart.score }) });
      const estimate = request.input ?? (await estimateInput(request));
      const candidates = candidatesOf({ request, model, catalog: catalog(), health });
      refuseUnable(request, candidates);
      const answer = openAnswer({ request, model, smart, candidates, context, output, estimate });
      finish(answer, await paidCalls.run(new AnswerCall(answer, options)));
    },
  };
}

type Routes = RoutesOptions<Candidate, ReplyFinishPart>;

/** A class, because every open answer has one: closures would take three times the memory. */
class AnswerCall implements PaidCall<ReplyFinishPart, TextDue>, Routes {
  readonly terms: PaidCall<unknown>['terms'];
  deadline = 0;
  readonly #answer: Answer;
  readonly #engine: TextEngineOptions;
  /** The model that was asked last. */
  #asked: string | undefined;

  constructor(answer: Answer, engine: TextEngineOptions) {
    this.terms = termsOf(answer);
    this.#answer = answer;
    this.#engine = engine;
  }

  get context(): CallContext {
    return this.#answer.context;
  }

  get routes(): readonly Candidate[] {
    return this.#answer.candidates;
  }

  get health(): RouteHealth {
    return this.#engine.health;
  }

  get onAttempt(): OnAttempt | undefined {
    return this.#engine.onAttempt;
  }

  ask(): Promise<Ending<ReplyFinishPart>> {
    this.#answer.output.open();
    this.deadline = performance.now() + this.#engine.timeouts.totalTimeoutMs;
    return askRoutes(this).then((ending) => concluded(this.#answer, ending));
  }

  attempt({ route, model, abilities }: Candidate, onFirst: () => void): Promise<Ending<ReplyFinishPart>> {
    const { request, context, outputMax, sink, delivery } = this.#answer;
    // Each attempt starts its own heartbeats: otherwise the silence between two attempts could be too long.
    if (this.#asked !== undefined) delivery.keepAlive();
    this.#asked = model;
    const { signal } = context;
    const call = () => callOf(request, abilities);
    const calls = callsIn(request, abilities);
    const { timeouts } = this.#engine;
    return attempt({ route, model, calls, call, outputMax, sink, signal, timeouts, deadline: this.deadline, onFirst });
  }

  isCommitted(): boolean {
    return this.#answer.sink.hasText;
  }

  overshoot(reserved: Micro): Micro {
    return overshootOf(this.#answer, reserved);
  }

  owed(ending: Ending<ReplyFinishPart>): TextDue | undefined {
    const asked = this.#asked;
    return isOwed(this.#answer, ending, asked) ? dueOf(this.#answer, ending, asked) : undefined;
  }
}

/** Delivers what was held back of a complete answer. */
function concluded({ request, sink, delivery }: Answer, ending: Ending<ReplyFinishPart>): Ending<ReplyFinishPart> {
  if (ending.type === 'finish') delivery.flush();
  return request.images > 0 && !sink.hasText ? asVision(ending) : ending;
}

/** A route, and the model that answers on it. */
interface Candidate extends RouteRef {
  readonly route: Route;
  readonly model: string;
  readonly delivery: TextModel['delivery'];
  /** Input tokens that its upstream may add to the prompt. */
  readonly additions: number;
  /** What the model supports on the route; `tools` is false if the request has no tools. */
  readonly abilities: Taken;
}

type Taken = Abilities & Pick<TextModel, 'reasoning'>;

interface Choosing {
  readonly request: TextRequest;
  readonly model: TextModel;
  readonly catalog: Catalog;
  readonly health: RouteHealth;
}

/**
 * The routes of the model; calls with pictures use the catalog's vision models instead. Routes that lack what the
 * request needs are tried only if there are no others.
 */
function candidatesOf({ request, model, catalog, health }: Choosing): readonly Candidate[] {
  const models = request.images > 0 ? catalog.vision : [model];
  const matters = usesTools(request);
  const candidates = models.flatMap((each) =>
    health.inOrder(each).map((route) => {
      const { upstream, key, provider } = route;
      const { json, schema, reasoning } = each;
      const tools = matters && each.tools && provider.tools === true;
      const abilities = { tools, demands: tools && each.demands, json, schema, reasoning };
      const { id, delivery, upstreamAdditions: additions = UPSTREAM_ADDITIONS } = each;
      return { upstream, key, route, model: id, delivery, additions, abilities };
    }),
  );
  // A copy has as many places as routes; what `flatMap` makes has sixteen more.
  return [...preferAble(candidates, request)];
}

function refuseUnable(request: TextRequest, [first]: readonly Candidate[]): void {
  const refusal = first && unableTo(first.model, first.abilities, request);
  if (refusal) throw refusal;
}

/** Calls that nobody allowed are dropped. */
function callsIn({ tools }: TextRequest, abilities: Taken): CallsAllowed {
  if (!abilities.tools) return 'none';
  return tools?.single ? 'one' : 'any';
}

/** Why no vision model answered: what the client can fix is passed on unchanged. */
function asVision(ending: Ending<ReplyFinishPart>): Ending<ReplyFinishPart> {
  if (ending.type !== 'error' || ending.fault.data?.retryable === false) return ending;
  return { type: 'error', fault: fault('vision_unavailable', {}, ending.fault.cause) };
}

interface Asked {
  readonly request: TextRequest;
  readonly model: TextModel;
  readonly smart: SmartRouting | undefined;
  readonly candidates: readonly Candidate[];
  readonly context: CallContext;
  readonly output: TextOutput;
  readonly estimate: InputEstimate;
}

/** A running answer: its counts, and where it goes. */
interface Answer extends Asked {
  /** The tokens that the hold covers. */
  readonly held: Tokens;
  /** What it may cost above its hold; undefined if its output is capped. */
  readonly excess: Micro | undefined;
  /** The maximum of output tokens delivered and billed. */
  readonly outputMax: number;
  readonly meter: Meter;
  readonly delivery: Delivery;
  readonly sink: AnswerSink;
}

function openAnswer(asked: Asked): Answer {
  const { request, model, smart, candidates, context, output, estimate } = asked;
  const buffered = (candidates[0] ?? model).delivery === 'buffered';
  const outputMax = buffered ? Number.POSITIVE_INFINITY : request.maxTokens;
  const meter = createMeter({
    trusted: !buffered,
    inputEstimate: buffered ? estimate.tokensBuffered : estimate.tokens,
    inputMax: estimate.tokensMax + Math.max(0, ...candidates.map(({ additions }) => additions)),
    outputMax,
    ...(estimate.pictures && { pictures: estimate.pictures }),
  });
  const delivery = createDelivery(output, {
    replyId: context.requestId,
    model: model.id,
    smart,
    buffered,
    inputTokens: () => meter.inputSoFar(),
    onBegin: context.onFirst,
  });
  const held = heldTokens({ input: estimate.tokensHeld, maxTokens: request.maxTokens });
  const onText = () => {
    letGo(request);
    context.releaseRequest?.();
  };
  return {
    ...asked,
    held,
    excess: buffered ? excessOf(model.price) : undefined,
    outputMax,
    meter,
    delivery,
    sink: new MeteredSink({ meter, delivery, stops: request.stops, onText }),
  };
}

interface SinkOptions {
  readonly meter: Meter;
  readonly delivery: Delivery;
  /** What the answer ends before. */
  readonly stops: readonly string[] | undefined;
  /** Called at the first text: no other route will be tried. */
  readonly onText: () => void;
}

/** Counts everything an upstream produced, including what is not delivered. */
class MeteredSink implements AnswerSink {
  hasText = false;
  readonly #options: SinkOptions;
  readonly #stops: Stops | undefined;

  constructor(options: SinkOptions) {
    this.#options = options;
    this.#stops = options.stops && createStops(options.stops);
  }

  get begun(): boolean {
    return this.#options.delivery.begun;
  }

  get stopped(): string | undefined {
    return this.#stops?.matched;
  }

  restart(model: string): void {
    const { meter, delivery } = this.#options;
    meter.restart();
    delivery.restart(model);
  }

  take(parts: readonly StreamPart[]): Pressure {
    const { meter, delivery, onText } = this.#options;
    meter.observe(parts);
    if (meter.hasText && !this.hasText) {
      this.hasText = true;
      onText();
    }
    return delivery.write(this.#stops ? this.#stops.pass(parts) : parts);
  }

  breakOff(): void {
    const { delivery } = this.#options;
    const rest = this.#stops?.rest() ?? [];
    if (delivery.begun || this.stopped !== undefined) delivery.write(rest);
  }

  keepAlive(): void {
    this.#options.delivery.keepAlive();
  }
}

function termsOf({ model, held, excess }: Answer): PaidCall<unknown>['terms'] {
  const { id, price, prices } = model;
  return { kind: 'text', model: id, prices, amount: textCost(price, held), ...(excess !== undefined && { excess }) };
}

function callOf(request: TextRequest, takes: Taken): Omit<TextCall, 'model' | 'options'> {
  const { system, maxTokens, images, tools, reasoning } = request;
  const format = formatFor(takes, request.format);
  const messages = takes.tools ? request.messages : withoutTools(request);
  return {
    messages: messagesOf({ messages, images }),
    maxTokens,
    ...(system !== undefined && { system }),
    ...(takes.tools && tools && { tools }),
    ...(format && { format }),
    ...(reasoning && takes.reasoning && { reasoning: reasoningOf(reasoning, maxTokens) }),
  };
}

/** A whole answer, a part of one that the client has, or what an upstream may have done for a client who left. */
function isOwed({ output, delivery }: Answer, { type }: Ending, asked: string | undefined): boolean {
  return type === 'finish' || (output.live && delivery.begun) || (type === 'gone' && asked !== undefined);
}

interface TextDue extends CallCost {
  readonly bill: Tokens;
}

function dueOf(answer: Answer, ending: Ending<ReplyFinishPart>, answered: string | undefined): TextDue {
  const { meter, model, context, sink, request, smart } = answer;
  const { type } = ending;
  const isStopped = sink.stopped !== undefined;
  const { doubt, ...bill } = meter.bill(type === 'finish' && !isStopped ? 'finished' : 'cut');
  // If the client leaves, or the answer is stopped, the usage, which mostly comes last, never arrives.
  if (doubt && (meter.isInputAboveBound || (type !== 'gone' && !isStopped))) {
    context.log.warn({ doubt }, 'an upstream reported implausible usage; the call is billed by estimate');
    context.log.note({ doubt });
  }
  const facts = factsOf({ asked: request.model, billed: model.id, answered, smart, ending });
  const usage = { tokens_input: bill.input, tokens_output: bill.output, ...facts };
  return { amount: textCost(model.price, bill), usage, bill };
}

function finish(
  { output, delivery, model }: Answer,
  { ending, due, paid }: PaidEnding<ReplyFinishPart, TextDue>,
): void {
  if (ending.type === 'gone') return;
  if (ending.type === 'finish') {
    assert(due, 'a whole answer is owed');
    delivery.complete(ending.result, due.bill, { ...paid, price: model.price });
  } else {
    output.write([{ type: 'error', fault: due ? ending.fault : refundedFault(ending.fault) }]);
  }
  output.end();
}
