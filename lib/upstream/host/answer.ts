// One text answer as a plugin reads it: the request, its refusal, and the parts of the reply.
import { type OpenBody, readWhenAsked } from '../../stream/bytes.ts';
import { LINE_LIMITS } from '../../stream/lines.ts';
import type { ProviderPart } from '../../stream/provider-part.ts';
import type { AnswerReader } from '../contract/answer.ts';
import type { HostFault } from '../contract/fault.ts';
import type { HostRequest } from '../contract/request.ts';
import type { Asking } from './ask.ts';
import { FramedAnswer } from './framed-answer.ts';
import type { KeyRing } from './key-ring.ts';
import { EVENT_CHARS_MAX, LenientAnswer } from './lenient-answer.ts';
import { readPluginRun } from './plugin-run.ts';

interface AnswerOptions {
  readonly ask: Asking['ask'];
  readonly keys: KeyRing;
  readonly fault: HostFault;
  readonly url: string;
  readonly init: HostRequest;
  readonly reader: AnswerReader;
}

const EVENT_CHARS = LINE_LIMITS.charsMax;

/** Nothing is sent before the first `next`. */
export function readAnswer(options: AnswerOptions): AsyncIterableIterator<readonly ProviderPart[]> {
  const { reader, fault, init } = options;
  const { framing, eventCharsMax } = init;
  const bytesMax = Math.min(eventCharsMax ?? EVENT_CHARS, EVENT_CHARS_MAX);
  const decoder = framing
    ? new FramedAnswer({ reader, fault, framing, bytesMax })
    : new LenientAnswer({ reader, fault, eventCharsMax, memory: readPluginRun()?.memory });
  return readWhenAsked(() => askForBody(options), { decoder, signal: init.signal });
}

async function askForBody({ ask, keys, url, init }: AnswerOptions): Promise<OpenBody> {
  const { keyId, body } = await ask(url, init, !init.once);
  return body.open((error) => keys.blame(keyId, error));
}
