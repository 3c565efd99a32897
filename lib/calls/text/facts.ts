// What a charge records about how its text was produced, beyond its model and tokens: nothing for most calls.

import type { SmartRouting } from '../../base/smart-tiers.ts';
import type { Usage } from '../../money/decide.ts';
import type { FinishPart } from '../../stream/part.ts';
import type { Ending } from '../ending.ts';

export interface AnswerFacts {
  /** As the client named it. */
  readonly asked: string;
  /** The model whose price was paid. */
  readonly billed: string;
  /** The last model tried; undefined if none was. */
  readonly answered: string | undefined;
  readonly smart: SmartRouting | undefined;
  readonly ending: Ending<FinishPart>;
}

/** `model_asked`, `model_answered`, `ended`, `smart_tier` and `smart_signals`, each only if it adds something. */
export function describeAnswer({ asked, billed, answered, smart, ending }: AnswerFacts): Usage {
  const facts: Record<string, string> = {};
  if (asked !== billed) facts.model_asked = asked;
  if (answered !== undefined && answered !== billed) facts.model_answered = answered;
  const ended = ending.type === 'finish' ? ending.result.reason : ending.type;
  if (ended !== 'stop') facts.ended = ended;
  if (smart) {
    facts.smart_tier = smart.tier;
    facts.smart_signals = smart.signals.join(' ');
  }
  return facts;
}
