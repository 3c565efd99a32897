// A text call that is about to be answered, and what an attempt at one of its candidates is asked and allowed.
import type { SmartRouting } from '../../base/smart-tiers.ts';
import type { TextModel } from '../../catalog/model.ts';
import type { Micro } from '../../money/money.ts';
import type { CallContext } from '../context.ts';
import type { RouteHealth } from '../health.ts';
import type { OnAttempt } from '../routes.ts';
import type { AttemptOptions, TextTimeouts } from './attempt.ts';
import type { CachedPrompts } from './cached-prompts.ts';
import { allowCalls, type Candidate } from './candidates.ts';
import type { CreateTransform } from './embedder-transform.ts';
import type { TextOutput } from './output.ts';
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

type AttemptPlan<Out> = Omit<AttemptOptions<Out>, 'call' | 'deadline'>;

export function planAttempt<Out>(
  { request, context, output, smart, estimate, candidates, engine }: PreparedCall<Out>,
  { route, model, abilities, firstTokenMs }: Candidate,
  { buffered, outputMax }: AnswerLimits,
): AttemptPlan<Out> {
  return {
    route,
    pipeline: {
      guard: {
        outputMax,
        calls: allowCalls(request, abilities),
        toolNames: request.tools?.list.map(({ name }) => name),
        isCallId: request.hasCalls && ((id) => hasCall(request, id)),
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
    timeouts: firstTokenMs === undefined ? engine.timeouts : { ...engine.timeouts, firstTokenTimeoutMs: firstTokenMs },
  };
}

function hasCall({ messages }: TextRequest, id: string): boolean {
  return messages.some(({ content }) => content.some((part) => part.type === 'tool-call' && part.id === id));
}
