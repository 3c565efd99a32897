// The text engine shared by all dialects: what a text call holds, how it is answered, and what it costs.
import assert from 'node:assert/strict';
import { refundedFault } from '../../base/faults.ts';
import { type Catalog, chooseCatalog } from '../../catalog/catalog.ts';
import type { FinishPart } from '../../stream/part.ts';
import type { CallContext } from '../context.ts';
import type { PaidCalls, PaidEnding } from '../paid.ts';
import { TextAnswer, type TextAnswerDue } from './answer.ts';
import type { TextAnswering } from './attempt-plan.ts';
import { createCachedPrompts } from './cached-prompts.ts';
import { type Candidate, findCandidates, refuseUnable } from './candidates.ts';
import { chooseModel } from './choice.ts';
import { estimateInput } from './estimate.ts';
import { withoutAnswerImages } from './history-images.ts';
import { type TextOutput, writeParts } from './output.ts';
import type { TextRequest } from './request.ts';

interface TextEngineOptions extends Omit<TextAnswering, 'cachedPrompts'> {
  /** The current catalog. */
  readonly catalog: () => Catalog;
  readonly paidCalls: PaidCalls;
}

export interface TextEngine {
  /**
   * Runs one call including its money. Rejects with a fault if it fails before the output is opened, or later if the
   * output is not live; on a live output a later failure is an `error` part.
   */
  run<Out>(request: TextRequest, context: CallContext, output: TextOutput<Out>): Promise<void>;
}

export function createTextEngine(options: TextEngineOptions): TextEngine {
  const { catalog, paidCalls, health } = options;
  const engine: TextAnswering = { ...options, cachedPrompts: createCachedPrompts() };

  /** Separate from `run`, which would otherwise keep everything here in memory until the answer ends. */
  async function prepare<Out>(request: TextRequest, context: CallContext, output: TextOutput<Out>) {
    const priced = chooseCatalog(catalog(), context);
    const { model, smart } = chooseModel(priced, request, context.limits);
    context.log.note({ model: model.id, ...(smart && { smart_tier: smart.tier, smart_score: smart.score }) });
    const whole = request.estimate ?? (await estimateInput(request));
    const { limits } = context;
    // A copy, because what grew has room for 17, and this is kept as long as the answer is open.
    const candidates = findCandidates({ request, model, catalog: priced, health, caller: context, limits }).slice();
    refuseUnable(request, candidates);
    const estimate = candidates.some(seesImages) ? whole : withoutAnswerImages(whole, request);
    return new TextAnswer({ request, model, smart, candidates, context, output, estimate, engine });
  }

  return {
    async run(request, context, output) {
      const answer = await prepare(request, context, output);
      deliverEnding(answer, output, await paidCalls.run(answer));
    },
  };
}

const seesImages = ({ abilities }: Candidate): boolean => abilities.vision;

/** The call is settled: its bill ends the answer. */
function deliverEnding<Out>(
  answer: TextAnswer<Out>,
  output: TextOutput<Out>,
  { ending, due, paid }: PaidEnding<FinishPart, TextAnswerDue>,
): void {
  if (ending.type === 'gone') return;
  if (ending.type === 'finish') {
    assert(due, 'a whole answer is charged');
    writeParts(output, answer.complete(ending.result, due.bill, paid));
  } else {
    writeParts(output, [{ type: 'error', fault: due ? ending.fault : refundedFault(ending.fault) }]);
  }
  output.sink.close();
}
