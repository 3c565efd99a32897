// The parts that events of the responses format are read as.
import type { JsonObject, ProviderPart } from '../../../../lib/upstream/contract/provider.ts';
import { ResponsesReply } from '../../../../lib/upstream/formats/responses/reply.ts';
import { createFinishReason } from '../../../../lib/upstream/host/finish-words.ts';
import { createHostFault } from '../../../../lib/upstream/host/host-fault.ts';
import { Writer } from '../../../../lib/upstream/host/writer.ts';

const fault = createHostFault({ secrets: [] });

export function readEvents(events: readonly JsonObject[]): readonly ProviderPart[] {
  const parts: ProviderPart[] = [];
  const out = new Writer();
  out.into(parts);
  const reply = new ResponsesReply({ fault, finishReason: createFinishReason(fault) });
  for (const event of events) if (!out.isDone) reply.take(event, out);
  return parts;
}
