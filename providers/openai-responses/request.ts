// Settings of an upstream that speaks responses, and the request one text call becomes.
import type {
  Base64,
  Content,
  JsonBody,
  OutputFormat,
  Reasoning,
  TextCall,
  TextMessage,
} from '../../lib/plugin/contract.ts';

/** Nothing is kept there for a later call. */
export function bodyOf({ model, system, messages, maxTokens, format, reasoning }: TextCall): JsonBody {
  return (base64) => ({
    model,
    ...(system !== undefined && { instructions: system }),
    input: messages.map((message) => ({ role: message.role, content: contentOf(message, base64) })),
    max_output_tokens: maxTokens,
    store: false,
    stream: true,
    ...(format && { text: { format: formatOf(format) } }),
    ...(reasoning && reasoning.mode !== 'auto' && { reasoning: { effort: effortOf(reasoning) } }),
  });
}

function formatOf(format: OutputFormat): object {
  return format.type === 'json' ? { type: 'json_object' } : { ...format, type: 'json_schema' };
}

function effortOf(reasoning: Exclude<Reasoning, { mode: 'auto' }>): string {
  return reasoning.mode === 'off' ? 'none' : reasoning.effort;
}

/** What the model said before is another type than what it is told. */
function contentOf({ role, content }: TextMessage, base64: Base64): readonly object[] {
  return content.flatMap((part) => (role === 'assistant' ? { ...part, type: 'output_text' } : inputOf(part, base64)));
}

function inputOf(content: Content, base64: Base64): object | [] {
  if (content.type === 'text') return { type: 'input_text', text: content.text };
  if (content.type !== 'image') return [];
  return { type: 'input_image', image_url: `data:${content.mediaType};base64,${base64(content.bytes)}` };
}
