// The token counts of a reply as each dialect writes them. Details appear only where there is something to count.
import { countPrompt } from '../../money/price.ts';
import type { UsageCounts } from '../../stream/provider-part.ts';

/** `input_tokens` excludes what was read from a cache or written to one. */
export function messageUsage(usage: UsageCounts): object {
  const { input = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output = 0 } = usage;
  const written = cacheWrite + cacheWrite1h;
  return {
    input_tokens: input,
    output_tokens: output,
    ...(written > 0 && {
      cache_creation_input_tokens: written,
      cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    }),
    ...(cacheRead > 0 && { cache_read_input_tokens: cacheRead }),
  };
}

/** `prompt_tokens` includes everything. */
export function chatUsage(usage: UsageCounts): object {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output = 0, reasoning = 0 } = usage;
  const prompt = countPrompt(usage);
  const written = cacheWrite + cacheWrite1h;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    ...((cacheRead > 0 || written > 0) && {
      prompt_tokens_details: {
        ...(cacheRead > 0 && { cached_tokens: cacheRead }),
        ...(written > 0 && { cache_write_tokens: written }),
      },
    }),
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
