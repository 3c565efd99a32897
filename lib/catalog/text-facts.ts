// What clients size their prompts by, in the entry of a text model.
import { MAX_TOKENS_MAXIMUM } from '../base/token-limits.ts';
import type { TextModel } from './model.ts';

/** Under the names that routers and SDKs give them. */
export interface TextFacts {
  readonly object: 'model';
  /** Unix time; nobody records it. */
  readonly created: 0;
  readonly owned_by: string;
  readonly display_name: string;
  readonly context_length?: number;
  readonly max_output_tokens: number;
  readonly input_modalities: readonly string[];
  /** Optional fields of a chat that the model heeds. */
  readonly supported_parameters: readonly string[];
}

export function listTextFacts(model: TextModel): TextFacts {
  const { id, provider, context } = model;
  return {
    object: 'model',
    created: 0,
    owned_by: provider,
    display_name: id,
    ...(context !== undefined && { context_length: context }),
    max_output_tokens: capOutput(model, MAX_TOKENS_MAXIMUM),
    input_modalities: listModalities(model),
    supported_parameters: listParameters(model),
  };
}

/** The output tokens that are asked for, but no more than the model can give. */
export function capOutput({ maxOutput }: Pick<TextModel, 'maxOutput'>, maxTokens: number): number {
  return Math.min(maxTokens, maxOutput ?? maxTokens);
}

function listModalities({ vision, documents, audio }: TextModel): readonly string[] {
  return ['text', ...(vision ? ['image'] : []), ...(documents ? ['file'] : []), ...(audio ? ['audio'] : [])];
}

const SAMPLING_PARAMETERS = ['temperature', 'top_p', 'top_k', 'seed', 'presence_penalty', 'frequency_penalty'];

function listParameters({ tools, json, schema, reasoning, sampling }: TextModel): readonly string[] {
  return [
    'max_tokens',
    'stop',
    ...(tools ? ['tools', 'tool_choice', 'parallel_tool_calls'] : []),
    ...(json || schema ? ['response_format'] : []),
    ...(schema ? ['structured_outputs'] : []),
    ...(reasoning ? ['reasoning', 'reasoning_effort'] : []),
    ...(sampling ? SAMPLING_PARAMETERS : []),
  ];
}

/** Further names of the same, for clients of the messages format. */
export interface MessageFacts {
  readonly display_name: string;
  readonly created_at: string;
  readonly max_input_tokens: number | null;
  readonly max_tokens: number | null;
}

export function listMessageFacts(entry: { readonly id: string } & Partial<TextFacts>): MessageFacts {
  const { id, display_name = id, context_length = null, max_output_tokens = null } = entry;
  return {
    display_name,
    created_at: '1970-01-01T00:00:00Z',
    max_input_tokens: context_length,
    max_tokens: max_output_tokens,
  };
}
