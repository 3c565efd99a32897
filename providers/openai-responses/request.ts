// Settings of an upstream that speaks responses, and the request one text call becomes.
import type { Base64, Content, JsonBody, TextCall, TextMessage } from '../../lib/plugin/contract.ts';

/** Nothing is kept there for a later call. */
export function bodyOf({ model, system, messages, maxTokens }: TextCall): JsonBody {
  return (base64) => ({
    model,
    ...(system !== undefined && { instructions: system }),
    input: messages.map((message) => ({ role: message.role, content: contentOf(message, base64) })),
    max_output_tokens: maxTokens,
    store: false,
    stream: true,
  });
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
