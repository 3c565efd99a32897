// The engine of embeddings: holds an estimate of the price, tries the routes of the model, and charges what was counted.
import assert from 'node:assert/strict';
import { refundedFault } from '../../base/faults.ts';
import type { EmbeddingModel, Route } from '../../catalog/model.ts';
import type { CallCost, Settlement } from '../../ledger/ledger.ts';
import type { Micro } from '../../money/money.ts';
import { embeddingCost } from '../../money/price.ts';
import type { EmbedCall, Embeddings, Vector } from '../../upstream/contract/provider.ts';
import { checkEmbeddings } from '../../upstream/host/embed.ts';
import { upstreamFault } from '../../upstream/host/fault.ts';
import { callPlugin, nameUpstream, type PluginRun } from '../../upstream/host/plugin-run.ts';
import { AttemptLog, type UsedByAttempt } from '../booked-attempts.ts';
import type { CallContext } from '../context.ts';
import { attemptUntilDeadline } from '../deadline-attempt.ts';
import type { Ending } from '../ending.ts';
import type { RouteHealth } from '../health.ts';
import type { PaidCalls } from '../paid.ts';
import { askRoutes, type OnAttempt } from '../routes.ts';
import { judgeCount } from './estimate.ts';
import { type EmbeddingEstimate, type EmbeddingRequest, listSuitableRoutes } from './request.ts';

interface EmbeddingEngineOptions {
  readonly paidCalls: PaidCalls;
  readonly health: RouteHealth;
  /** For all routes together. */
  readonly totalTimeoutMs: number;
  readonly onAttempt?: OnAttempt | undefined;
}

interface EmbeddingOrder {
  readonly model: EmbeddingModel;
  readonly request: EmbeddingRequest;
  readonly estimate: EmbeddingEstimate;
}

export interface EmbeddingAnswer {
  readonly vectors: readonly Vector[];
  /** As billed. */
  readonly tokens: number;
  readonly paid: Settlement;
}

export interface EmbeddingEngine {
  /**
   * Runs one call including its money; resolves to undefined if the client left. Rejects with a fault if there are no
   * vectors; then nothing is charged.
   */
  run(order: EmbeddingOrder, context: CallContext): Promise<EmbeddingAnswer | undefined>;
}

interface EmbeddingCost extends CallCost {
  readonly tokens: number;
}

export function createEmbeddingEngine(options: EmbeddingEngineOptions): EmbeddingEngine {
  const { paidCalls, health, totalTimeoutMs, onAttempt } = options;
  return {
    async run({ model, request, estimate }, context) {
      context.log.note({ model: model.id });
      const attempts = new AttemptLog(model.id);
      const { ending, due, paid } = await paidCalls.run<Embeddings, EmbeddingCost>({
        context,
        attempts: attempts.list,
        terms: {
          kind: 'embedding',
          model: model.id,
          prices: model.prices,
          amount: computeEmbeddingHold(model, estimate),
        },
        ask() {
          const deadline = performance.now() + totalTimeoutMs;
          return askRoutes({
            routes: health.inOrder({ ...model, routes: listSuitableRoutes(model, request) }),
            health,
            context,
            deadline,
            onAttempt,
            isCommitted: () => false,
            attempt: (route) =>
              attempts.record(
                route,
                (onRun) => attemptVectors({ route, request, signal: context.signal, deadline, onRun }),
                (ended) => measureAttempt(ended, estimate),
              ),
          });
        },
        // A client that leaves still pays once an upstream was asked, which counts the input when it gets it.
        computeDue(upstream) {
          if (upstream.type === 'finish') return computeCost(upstream.result.inputTokens, { model, estimate, context });
          const wasAsked = attempts.list.length > 0;
          return upstream.type === 'gone' && wasAsked ? priceTokens(model, estimate.billed) : undefined;
        },
      });
      if (ending.type === 'gone') return undefined;
      if (ending.type === 'error') throw refundedFault(ending.fault);
      assert(due, 'a finished call is charged');
      return { vectors: ending.result.vectors, tokens: due.tokens, paid };
    },
  };
}

/** What a call holds, and needs at least. */
export function computeEmbeddingHold({ price }: EmbeddingModel, { held }: EmbeddingEstimate): Micro {
  return embeddingCost(price, held);
}

interface VectorAttempt {
  readonly route: Route;
  readonly request: EmbeddingRequest;
  /** Of the call. */
  readonly signal: AbortSignal;
  /** By `performance.now()`. */
  readonly deadline: number;
  readonly onRun: (run: PluginRun) => void;
}

/** Never rejects. */
function attemptVectors({ signal, deadline, ...attempt }: VectorAttempt): Promise<Ending<Embeddings>> {
  return attemptUntilDeadline({ signal, deadline }, (upstream) => requestVectors(attempt, upstream));
}

async function requestVectors(
  { route, request, onRun }: Pick<VectorAttempt, 'route' | 'request' | 'onRun'>,
  signal: AbortSignal,
): Promise<Embeddings> {
  const { provider, model, options, upstream } = route;
  const { inputs, tokens, dimensions } = request;
  const { embed } = provider;
  if (!embed) throw new Error(`upstream ${upstream} makes no embeddings`);
  // Plugins see absent fields, not undefined ones.
  const wishes = { ...(tokens && { tokens }), ...(dimensions !== undefined && { dimensions }) };
  const call: EmbedCall = { inputs, ...wishes, model, options };
  const made = await callPlugin(nameUpstream(upstream), signal, (inner) => embed.call(provider, call, inner), onRun);
  const answer = checkEmbeddings(made, call);
  const length = answer.vectors[0]?.length;
  if (dimensions !== undefined && length !== dimensions) {
    throw upstreamFault('protocol', `vectors of ${length} numbers instead of ${dimensions}`);
  }
  return answer;
}

function measureAttempt(ending: Ending<Embeddings>, estimate: EmbeddingEstimate): UsedByAttempt {
  const isWhole = ending.type === 'finish';
  const { tokens, doubt } = judgeCount(isWhole ? ending.result.inputTokens : undefined, estimate);
  return { usage: { tokens_input: tokens }, isReported: isWhole && doubt === undefined, hasOutput: false };
}

function computeCost(
  counted: number | undefined,
  { model, estimate, context }: Omit<EmbeddingOrder, 'request'> & { readonly context: CallContext },
): EmbeddingCost {
  const { tokens, doubt } = judgeCount(counted, estimate);
  if (doubt !== undefined) context.log.note({ doubt });
  if (counted !== undefined && doubt !== undefined) {
    context.log.warn({ doubt }, 'an upstream reported implausible usage; the call is billed by our own count');
  }
  return priceTokens(model, tokens);
}

function priceTokens({ price }: EmbeddingModel, tokens: number): EmbeddingCost {
  return { amount: embeddingCost(price, tokens), usage: { tokens_input: tokens }, tokens };
}
