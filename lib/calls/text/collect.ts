// Runs a text call whose caller wants the whole reply instead of a stream.
import { type CollectedReply, createCollector } from '../../stream/collect.ts';
import type { StreamPart } from '../../stream/part.ts';
import type { CallContext } from '../context.ts';
import type { TextEngine } from './engine.ts';
import type { TextRequest } from './request.ts';

/** Undefined if the client left. */
export async function collectReply(
  engine: TextEngine,
  request: TextRequest,
  context: CallContext,
): Promise<CollectedReply | undefined> {
  const { write, reply } = createCollector();
  let complete = false;
  await engine.run<StreamPart>(request, context, {
    live: false,
    sink: {
      open: () => undefined,
      push(parts) {
        write(parts);
        return [];
      },
      heartbeat: () => undefined,
      close() {
        complete = true;
      },
    },
  });
  return complete ? reply() : undefined;
}
