// What a request says about the reasoning before an answer, in the fields of each dialect.
import Joi from 'joi';
import { choice, type Json, object } from '../../base/json-schema.ts';
import { isRecord } from '../../base/record.ts';
import { BUDGET_MIN, pickDisplay, type ReasoningWish } from '../../calls/text/reasoning.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import type { Effort, ReasoningDisplay } from '../../upstream/contract/provider.ts';
import { checkAllowed, documentAs, ELSEWHERE, invalidField, objectField, optional } from './fields.ts';

type Fields = Readonly<Record<string, unknown>>;
type AskedReasoning = Pick<TextRequest, 'reasoning' | 'showsReasoning'>;

const EFFORTS = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const satisfies readonly Effort[];
/** Some agents' word for `max`. */
const ULTRA = 'ultra';
/** Some clients send this where they set no effort. */
const DEFAULT = 'default';
/** The message dialect turns reasoning off with `thinking`. */
const CHAT_EFFORTS = ['none', ...EFFORTS, ULTRA, DEFAULT] as const;
const MESSAGE_EFFORTS = EFFORTS.slice(1);
/** The least that some models have: they do not think before an answer, and what they think between calls is shown. */
const BETWEEN_TOOLS = 'between_tools';
const THINKING = ['enabled', 'disabled', 'adaptive', BETWEEN_TOOLS] as const;
const DISPLAYS = ['summarized', 'omitted'] as const;
/** Of the responses format; `none` and whatever else there may be shows none. */
const SUMMARIES: readonly unknown[] = ['auto', 'concise', 'detailed'];

export const nullableEffort: Json = { type: ['string', 'null'], enum: [...MESSAGE_EFFORTS, null] };

export const reasoningEffortField = optional(
  Joi.string()
    .valid(...CHAT_EFFORTS)
    .description(
      `How much the model reasons before it answers; \`${ULTRA}\` is the same as \`max\`, and \`${DEFAULT}\` as no effort. Reasoning is billed as output. ${ELSEWHERE}`,
    ),
  `must be one of ${CHAT_EFFORTS.join(', ')}`,
);

export const reasoningField = objectField({
  description: `Reasoning effort or a token limit for it, and whether the reasoning is left out of the answer. ${ELSEWHERE}`,
  ...object(
    {
      effort: { type: ['string', 'null'], enum: [...CHAT_EFFORTS, null] },
      max_tokens: { type: ['integer', 'null'], minimum: BUDGET_MIN, description: 'Most tokens for reasoning.' },
      exclude: { type: ['boolean', 'null'], description: 'If true, the reasoning is billed but not delivered.' },
      enabled: {
        description: 'False turns reasoning off, true leaves it to the model; an effort or a limit counts more.',
      },
    },
    { optional: ['effort', 'max_tokens', 'exclude', 'enabled'] },
  ),
});

const otherField = (description: string) =>
  optional(documentAs(Joi.any(), { description: `${description} ${ELSEWHERE}` }), 'is ignored');

export const chatThinkingFields = {
  thinking: otherField(
    'An object whose `type` is `enabled`, with or without `budget_tokens`, `adaptive` or `disabled`, as clients of other ' +
      'vendors send it; `reasoning_effort` and `reasoning` count more.',
  ),
  enable_thinking: otherField('The same as a boolean.'),
  chat_template_kwargs: otherField(
    'An object whose `enable_thinking` or `thinking` is the same as a boolean, as clients of local servers send it.',
  ),
};

export const thinkingField = objectField({
  description: `Whether the model thinks before it answers. Thinking is billed as output and delivered as blocks of its own. ${ELSEWHERE}`,
  ...object(
    {
      type: choice(THINKING),
      budget_tokens: {
        type: 'integer',
        minimum: BUDGET_MIN,
        description: 'Most tokens for it, where `type` is `enabled`; it stays below `max_tokens`.',
      },
      display: {
        type: ['string', 'null'],
        description: `What is shown of it, where the vendor can: ${DISPLAYS.join(' or ')}. Anything else is ignored.`,
      },
    },
    { optional: ['budget_tokens', 'display'] },
  ),
});

/** What a response asks for in `reasoning`: a summary is shown if it asks for one. */
export function readReasoning(given: unknown): AskedReasoning {
  const fields = checkReasoning(given);
  const wish = findWish(fields);
  return { ...(wish && { reasoning: wish }), showsReasoning: fields.exclude !== true };
}

interface ChatReasoning {
  readonly reasoning?: unknown;
  readonly reasoning_effort?: unknown;
}

/** What a chat asks for, which has no field for what is shown: all there is, unless it excludes that. */
export function readChatReasoning(fields: ChatReasoning & OtherThinking): AskedReasoning {
  const reasoning = checkReasoning(fields.reasoning);
  const showsReasoning = reasoning.exclude !== true;
  const wish = findWish(reasoning, fields.reasoning_effort) ?? readOtherThinking(fields);
  if (!wish) return { showsReasoning };
  return { reasoning: showsReasoning && wish.mode !== 'off' ? { ...wish, isShown: true } : wish, showsReasoning };
}

function checkReasoning(given: unknown): Fields {
  const fields = (given ?? {}) as Fields;
  const { effort, max_tokens: budget, exclude } = fields;
  if (effort != null) checkEffort('reasoning.effort', effort);
  if (budget != null) checkBudget('reasoning.max_tokens', budget);
  if (exclude != null && typeof exclude !== 'boolean') {
    throw invalidField('reasoning.exclude', 'must be a boolean, true or false');
  }
  return fields;
}

/** Undefined if nothing is said. */
function findWish(
  { max_tokens: budget, enabled, ...fields }: Fields,
  otherEffort?: unknown,
): ReasoningWish | undefined {
  const display = readSummary(fields);
  const effort = [fields.effort, otherEffort].find((each) => each != null && each !== DEFAULT);
  if (budget != null) return { mode: 'on', budgetTokens: budget as number, ...display };
  if (effort === 'none') return { mode: 'off' };
  if (effort != null) return { mode: 'on', effort: effort === ULTRA ? 'max' : (effort as Effort), ...display };
  if (enabled === false) return { mode: 'off' };
  return enabled === true || display.display ? { mode: 'auto', ...display } : undefined;
}

/** Fields of the responses format, one of them an older name. */
function readSummary({ generate_summary: older, summary = older }: Fields): ReasoningDisplay {
  return SUMMARIES.includes(summary) ? { display: 'summarized' } : {};
}

/** Of a chat or a response. */
export function checkEffort(field: string, effort: unknown): void {
  checkAllowed(field, effort, CHAT_EFFORTS);
}

type OtherThinking = { readonly [Name in keyof typeof chatThinkingFields]?: unknown };

/** What clients of other vendors of chats say about it. Nothing is refused: elsewhere these fields are unknown. */
function readOtherThinking({
  thinking,
  enable_thinking: enabled,
  chat_template_kwargs: template,
}: OtherThinking): ReasoningWish | undefined {
  const { type, budget_tokens: budget } = isRecord(thinking) ? thinking : {};
  const { enable_thinking: inTemplate, thinking: inOther } = isRecord(template) ? template : {};
  const isOn = [enabled, inTemplate, inOther].find((value) => typeof value === 'boolean');
  const wanted = type ?? (isOn === undefined ? undefined : isOn ? 'enabled' : 'disabled');
  if (wanted === 'disabled' || wanted === BETWEEN_TOOLS) return { mode: 'off' };
  if (wanted !== 'enabled' && wanted !== 'adaptive') return undefined;
  return isBudget(budget) ? { mode: 'on', budgetTokens: budget } : { mode: 'auto' };
}

/**
 * What `thinking` and `output_config.effort` ask for; without `thinking`, the effort alone decides. One that was set since
 * replaces it.
 */
export function readThinking(thinking: unknown, config: unknown, since?: Effort): AskedReasoning {
  const before = readEffort(config, 'output_config');
  const wish = thinking == null ? undefined : readThinkingMode(thinking as Fields);
  const reasoning = addEffort(wish, since ?? before);
  // Delivered to those who ask for it.
  const showsReasoning = wish !== undefined && (thinking as Fields).type !== 'disabled';
  return { ...(reasoning && { reasoning }), ...(showsReasoning && { showsReasoning }) };
}

function addEffort(wish: ReasoningWish | undefined, effort: Effort | undefined): ReasoningWish | undefined {
  if (effort === undefined || (wish && 'budgetTokens' in wish)) return wish;
  if (wish?.mode === 'off') return { mode: 'off', effort };
  return { mode: 'on', effort, ...(wish && pickDisplay(wish)) };
}

/** Of an `output_config` at this place. */
export function readEffort(config: unknown, field: string): Effort | undefined {
  const { effort } = (config ?? {}) as Fields;
  if (effort == null) return undefined;
  checkAllowed(`${field}.effort`, effort, MESSAGE_EFFORTS);
  return effort as Effort;
}

function readThinkingMode({ type, budget_tokens: budget, display: wanted }: Fields): ReasoningWish {
  checkAllowed('thinking.type', type, THINKING);
  const display = DISPLAYS.find((each) => each === wanted);
  // A newer word is the vendor's choice: agents try theirs first.
  if (wanted != null && typeof wanted !== 'string') throw invalidField('thinking.display', 'must be a string');
  if (type === 'disabled' || type === BETWEEN_TOOLS) return { mode: 'off' };
  const shown = { ...(display && { display }), ...(display !== 'omitted' && { isShown: true as const }) };
  if (type !== 'enabled') return { mode: 'auto', ...shown };
  checkBudget('thinking.budget_tokens', budget);
  return { mode: 'on', budgetTokens: budget as number, ...shown };
}

function checkBudget(field: string, budget: unknown): void {
  if (!isBudget(budget)) throw invalidField(field, `must be a whole number of at least ${BUDGET_MIN}`);
}

function isBudget(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= BUDGET_MIN;
}
