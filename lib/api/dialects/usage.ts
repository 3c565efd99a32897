// The token counts of a reply as each dialect writes them. But for responses, details appear only where there is something to count.
import { countPrompt } from '../../money/price.ts';
import type { UsageCounts } from '../../stream/provider-part.ts';

/**
 * `input_tokens` includes audio, and excludes what was read from a cache or written to one. Clients keep a count that was
 * `sentBefore` until there is another, so that one is replaced by a zero, too.
 */
export function messageUsage(usage: UsageCounts, sentBefore: UsageCounts = {}): object {
  const { input = 0, audio = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output = 0 } = usage;
  const written = cacheWrite + cacheWrite1h;
  const hasWritten = written > 0 || (sentBefore.cacheWrite ?? 0) + (sentBefore.cacheWrite1h ?? 0) > 0;
  const hasRead = cacheRead > 0 || (sentBefore.cacheRead ?? 0) > 0;
  return {
    input_tokens: input + audio,
    output_tokens: output,
    ...(hasWritten && {
      cache_creation_input_tokens: written,
      cache_creation: { ephemeral_5m_input_tokens: cacheWrite, ephemeral_1h_input_tokens: cacheWrite1h },
    }),
    ...(hasRead && { cache_read_input_tokens: cacheRead }),
  };
}

/** Like `chatUsage`, but clients require the details even if there is nothing to count. */
export function responsesUsage(usage: UsageCounts): object {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output = 0, reasoning = 0 } = usage;
  const prompt = countPrompt(usage);
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite + cacheWrite1h },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: prompt + output,
  };
}

/** A client in PHP has read them beside reasoning without a check. */
const NO_PREDICTION = { accepted_prediction_tokens: 0, rejected_prediction_tokens: 0 };

/** `prompt_tokens` includes everything. Clients read `cached_tokens` of details without a check. */
export function chatUsage(usage: UsageCounts): object {
  const { audio = 0, cacheRead = 0, cacheWrite = 0, cacheWrite1h = 0, output = 0, reasoning = 0 } = usage;
  const prompt = countPrompt(usage);
  const written = cacheWrite + cacheWrite1h;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    ...((cacheRead > 0 || written > 0 || audio > 0) && {
      prompt_tokens_details: {
        cached_tokens: cacheRead,
        ...(written > 0 && { cache_write_tokens: written }),
        ...(audio > 0 && { audio_tokens: audio }),
      },
    }),
    ...(reasoning > 0 && { completion_tokens_details: { reasoning_tokens: reasoning, ...NO_PREDICTION } }),
  };
}
