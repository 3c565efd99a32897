// One text answer as a plugin reads it: the request, its refusal, and the parts of the reply.
import type { ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from '../contract/answer.ts';
import type { HostFault } from '../contract/fault.ts';
import type { HostRequest } from '../contract/request.ts';
import type { Asking } from './ask.ts';
import { Frames } from './frames.ts';
import type { KeyRing } from './key-ring.ts';
import type { UpstreamResponse } from './upstream.ts';

export interface AnswerOptions {
  readonly ask: Asking['ask'];
  readonly keys: KeyRing;
  readonly fault: HostFault;
  readonly url: string;
  readonly init: HostRequest;
  readonly reader: AnswerReader;
}

type Batches = AsyncGenerator<readonly ProviderPart[], void>;

/** Nothing is sent before the first `next`. What was sent is not kept for the life of the reply. */
export async function* readAnswer({ ask, url, init, ...reading }: AnswerOptions): Batches {
  const { signal, eventCharsMax } = init;
  const response = await ask(url, init, true);
  yield* readReply({ ...reading, response, signal, eventCharsMax });
}

type Reading = Pick<AnswerOptions, 'keys' | 'fault' | 'reader'> &
  Pick<HostRequest, 'signal' | 'eventCharsMax'> & { readonly response: UpstreamResponse };

async function* readReply({ keys, fault, reader, response, signal, eventCharsMax }: Reading): Batches {
  const frames = new Frames({ reader, fault, eventCharsMax });
  try {
    yield* response.body.stream(frames);
  } catch (error) {
    if (signal.aborted) throw error;
    const parts = frames.break(error);
    if (parts.length > 0) yield parts;
  }
  if (frames.error === undefined) return;
  // Some upstreams report within an answer what others report by status.
  keys.blame(response.keyId, frames.error);
  throw frames.error;
}
