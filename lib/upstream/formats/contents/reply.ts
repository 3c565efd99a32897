// Reads replies in the contents format: the chunks of a text, or the pictures of one reply.
import { Buffer } from 'node:buffer';
import type { AnswerReader, AnswerWriter, CountNames, Host, JsonObject, MediaSource } from '../../contract/provider.ts';
import { fieldsOf } from '../../host/fields.ts';
import { namedCountsOf } from '../../host/token-counts.ts';

const COUNTS: CountNames = {
  input: ['promptTokenCount'],
  output: ['candidatesTokenCount', 'thoughtsTokenCount'],
};

/** The format of the signatures that calls go back with. */
export const CONTENTS_STATE = 'contents';

type Kit = Pick<Host, 'fault' | 'finishReason'>;

export function createContentsReader(kit: Kit): AnswerReader {
  const { fault, finishReason } = kit;
  let calls = 0;

  /** A call arrives whole. */
  function takeCall({ functionCall, thoughtSignature }: JsonObject, out: AnswerWriter): void {
    const { id, name, args } = fieldsOf(functionCall);
    calls += 1;
    const state =
      typeof thoughtSignature === 'string' ? { format: CONTENTS_STATE, value: thoughtSignature } : undefined;
    out.tool({ block: `call ${calls}`, id, name, json: args, state, done: true });
  }

  return {
    take(chunk, out) {
      if (chunk.error) throw fault.ofComplaint(chunk, true);
      out.start({ id: chunk.responseId, model: chunk.modelVersion });
      // Every chunk counts all tokens so far. Reasoning is counted beside the answer and billed like it.
      out.usage(namedCountsOf(chunk.usageMetadata, COUNTS));
      refuseBlocked(chunk, kit);
      const candidate = fieldsOf(chunk.candidates, 0);
      for (const part of partsOf(candidate)) {
        const { text, thought } = part;
        if (part.functionCall) takeCall(part, out);
        else if (typeof text === 'string' && !thought) out.text(text);
      }
      const reason = finishReason(candidate.finishReason);
      if (reason) out.finish(reason, `${candidate.finishReason}`);
    },
  };
}

/** Drafts drawn while the model reasons are not results. Throws if there is no picture because of the content. */
export function picturesOf(value: unknown, kit: Kit): readonly MediaSource[] {
  const { fault, finishReason } = kit;
  const reply = fieldsOf(value);
  refuseBlocked(reply, kit);
  const candidates = listOf(reply.candidates);
  const parts = candidates.flatMap((candidate) => partsOf(candidate));
  const pictures = parts.flatMap(({ inlineData, thought }) => {
    const { data } = fieldsOf(inlineData);
    return typeof data === 'string' && !thought ? [{ bytes: Buffer.from(data, 'base64') }] : [];
  });
  const refused = candidates.find((candidate) => finishReason(candidate.finishReason) === 'filter');
  if (pictures.length > 0 || !refused) return pictures;
  throw fault.make('request', `${refused.finishReason}: ${refused.finishMessage ?? ''}`, { about: 'content' });
}

/** A refused prompt is a reply with status 200 and a reason in place of candidates. */
function refuseBlocked({ promptFeedback }: JsonObject, { fault, finishReason }: Kit): void {
  const { blockReason } = fieldsOf(promptFeedback);
  if (finishReason(blockReason)) throw fault.make('request', `prompt blocked: ${blockReason}`, { about: 'content' });
}

function partsOf({ content }: JsonObject): readonly JsonObject[] {
  return listOf(fieldsOf(content).parts);
}

function listOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map((item) => fieldsOf(item)) : [];
}
