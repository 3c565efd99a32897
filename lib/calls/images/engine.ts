// The image engine: holds the price of an image, tries the routes of its model, stores the result, then charges.
import assert from 'node:assert/strict';
import { refundedFault } from '../../base/faults.ts';
import type { ImageModel } from '../../catalog/model.ts';
import type { CallCost, Settlement } from '../../ledger/ledger.ts';
import type { Results } from '../../media/results.ts';
import type { StoredMedia } from '../../store/ports/media.ts';
import { AnswerMemory } from '../../stream/answer-memory.ts';
import type { ImageCall } from '../../upstream/contract/provider.ts';
import { AttemptLog } from '../booked-attempts.ts';
import type { CallContext } from '../context.ts';
import type { RouteHealth } from '../health.ts';
import type { PaidCalls } from '../paid.ts';
import { askRoutes, type OnAttempt } from '../routes.ts';
import { attemptImage } from './attempt.ts';
import { ReplyQueue } from './reply-queue.ts';

interface ImageEngineOptions {
  readonly paidCalls: PaidCalls;
  readonly results: Results;
  readonly health: RouteHealth;
  /** For all routes together, including storing the image. */
  readonly totalTimeoutMs: number;
  readonly onAttempt?: OnAttempt | undefined;
}

export interface ImageOrder {
  readonly kind: 'image' | 'edit';
  readonly model: ImageModel;
  /** The request; each route adds its model and options. */
  readonly call: Omit<ImageCall, 'model' | 'options'>;
}

export interface ImageAnswer {
  readonly image: StoredMedia;
  readonly paid: Settlement;
}

export interface ImageEngine {
  /**
   * Runs one call including its money; resolves to undefined if the client left. Rejects with a fault if there is no
   * image; then nothing is charged.
   */
  run(order: ImageOrder, context: CallContext): Promise<ImageAnswer | undefined>;
}

export function createImageEngine(options: ImageEngineOptions): ImageEngine {
  const { paidCalls, results, health, totalTimeoutMs, onAttempt } = options;
  const replies = new ReplyQueue();
  return {
    async run({ kind, model, call }, context) {
      context.log.note({ model: model.id });
      const attempts = new AttemptLog(model.id);
      const memory = new AnswerMemory(replies, context.accountId);
      const { ending, paid } = await paidCalls.run<StoredMedia, CallCost>({
        context,
        attempts: attempts.list,
        terms: { kind, model: model.id, prices: model.prices, amount: model.price.request },
        ask() {
          const deadline = performance.now() + totalTimeoutMs;
          return askRoutes({
            routes: health.inOrder(model),
            health,
            context,
            deadline,
            onAttempt,
            isCommitted: () => false,
            attempt(route, onFirst) {
              let made = 0;
              const onImages = (count: number) => {
                made = count;
                onFirst();
              };
              return attempts.record(
                route,
                (onRun) => attemptImage({ route, call, results, context, memory, deadline, onImages, onRun }),
                // The vendor bills what it made, whether or not it could be stored.
                () => ({ usage: { images: made || 1 }, isReported: made > 0, hasOutput: false }),
              );
            },
          });
        },
        // A client that leaves still pays once an upstream was asked: it may have generated the image.
        computeDue({ type }) {
          const wasAsked = attempts.list.length > 0;
          return type === 'finish' || (type === 'gone' && wasAsked) ? computeCost(model) : undefined;
        },
      });
      if (ending.type === 'gone') return undefined;
      if (ending.type === 'error') throw refundedFault(ending.fault);
      assert(ending.result, 'a charged image has a result');
      return { image: ending.result, paid };
    },
  };
}

/** One image is charged, however many the upstream returns. */
function computeCost({ price }: ImageModel): CallCost {
  return { amount: price.request, usage: { images: 1 } };
}
