// Settings of an upstream that speaks responses, and the request one text call becomes.
import { Buffer } from 'node:buffer';
import type { Content, TextCall, TextMessage } from '../../lib/plugin/contract.ts';

export interface Settings {
  /** Up to and without `/responses`. */
  readonly baseUrl: string;
  readonly apiKey?: string | readonly string[];
  readonly proxy?: string;
}

/** Nothing is kept there for a later call. */
export function bodyOf({ model, system, messages, maxTokens }: TextCall): string {
  return JSON.stringify({
    model,
    ...(system !== undefined && { instructions: system }),
    input: messages.map((message) => ({ role: message.role, content: contentOf(message) })),
    max_output_tokens: maxTokens,
    store: false,
    stream: true,
  });
}

/** What the model said before is another type than what it is told. */
function contentOf({ role, content }: TextMessage): readonly object[] {
  return content.map((part) => (role === 'assistant' ? { ...part, type: 'output_text' } : inputOf(part)));
}

function inputOf(content: Content): object {
  if (content.type === 'text') return { type: 'input_text', text: content.text };
  const { buffer, byteOffset, length } = content.bytes;
  const data = Buffer.from(buffer, byteOffset, length).toString('base64');
  return { type: 'input_image', image_url: `data:${content.mediaType};base64,${data}` };
}
