// Reads what the Gemini API generates: the chunks of a text, or the pictures of one reply.
import { Buffer } from 'node:buffer';
import type { AnswerReader, AnswerWriter, FinishReason, HostFault, MediaSource } from '../../lib/plugin/contract.ts';

type Fields = Readonly<Record<string, unknown>>;

export function readerOf(fault: HostFault): AnswerReader {
  let calls = 0;

  /** A call comes whole. */
  function takeCall({ functionCall, thoughtSignature }: Fields, out: AnswerWriter): void {
    const { id, name, args } = fieldsOf(functionCall);
    calls += 1;
    out.tool({ block: `call ${calls}`, id, name, json: args, state: thoughtSignature, done: true });
  }

  return {
    take(chunk, out) {
      if (chunk.error) throw fault.ofComplaint(chunk, true);
      out.start({ id: chunk.responseId, model: chunk.modelVersion });
      // Every chunk counts all tokens so far. Thoughts are counted beside the answer and billed like it.
      const { promptTokenCount, candidatesTokenCount, thoughtsTokenCount } = fieldsOf(chunk.usageMetadata);
      out.usage({
        input: promptTokenCount,
        output: Number(candidatesTokenCount ?? 0) + Number(thoughtsTokenCount ?? 0),
      });
      refuseBlocked(chunk, fault);
      const [candidate = {}] = listOf(chunk.candidates);
      for (const part of partsOf(candidate)) {
        const { text, thought } = part;
        if (part.functionCall) takeCall(part, out);
        else if (typeof text === 'string' && !thought) out.text(text);
      }
      const { finishReason } = candidate;
      if (isReason(finishReason)) out.finish(reasonOf(finishReason), finishReason);
    },
  };
}

/** Drafts that a model draws while it thinks are no result. Throws when there is no picture because of the content. */
export function picturesOf(value: unknown, fault: HostFault): readonly MediaSource[] {
  const reply = fieldsOf(value);
  refuseBlocked(reply, fault);
  const candidates = listOf(reply.candidates);
  const pictures = candidates.flatMap(partsOf).flatMap(({ inlineData, thought }) => {
    const { data } = fieldsOf(inlineData);
    return typeof data === 'string' && !thought ? [{ bytes: Buffer.from(data, 'base64') }] : [];
  });
  const refused = candidates.find(({ finishReason }) => isReason(finishReason) && reasonOf(finishReason) === 'filter');
  if (pictures.length > 0 || !refused) return pictures;
  throw fault.make('request', `${refused.finishReason}: ${refused.finishMessage ?? ''}`, { about: 'content' });
}

/** A prompt is refused within a reply of status 200, by a reason in place of candidates. */
function refuseBlocked({ promptFeedback }: Fields, fault: HostFault): void {
  const { blockReason } = fieldsOf(promptFeedback);
  if (isReason(blockReason)) throw fault.make('request', `prompt blocked: ${blockReason}`, { about: 'content' });
}

const FILTERS = /^(IMAGE_)?(SAFETY|RECITATION|PROHIBITED_CONTENT)$|^(LANGUAGE|BLOCKLIST|SPII)$/;

function reasonOf(reason: string): FinishReason {
  if (reason === 'STOP') return 'stop';
  if (reason === 'MAX_TOKENS') return 'length';
  return FILTERS.test(reason) ? 'filter' : 'other';
}

function isReason(reason: unknown): reason is string {
  return typeof reason === 'string' && reason !== '' && !reason.endsWith('_UNSPECIFIED');
}

function partsOf({ content }: Fields): readonly Fields[] {
  return listOf(fieldsOf(content).parts);
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}
