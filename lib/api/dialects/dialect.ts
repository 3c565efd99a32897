// What a text wire format provides to the shared engine: reading requests, writing replies and streams.
import type { TextRequest } from '../../calls/text/request.ts';
import type { CollectedReply } from '../../stream/collect.ts';
import type { StreamPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';

/** The call that an answer belongs to. */
export interface AnsweredCall {
  /** The id of the answer, without the dialect's prefix. */
  readonly id: string;
  /** True if it had images. */
  readonly vision: boolean;
  /** What the dialect kept of the request. */
  readonly echo?: object | undefined;
}

export interface Dialect {
  readonly name: 'message' | 'chat' | 'responses' | 'compaction';
  /** Checks and reads a parsed JSON body. Throws 400 faults that name the field. */
  parse(body: unknown): TextRequest;
  /** Makes of the parts of one stream the text of their events: at most one string for a batch. */
  createRenderer(call: AnsweredCall): Transform<StreamPart, string>;
  /** The body of a non-streaming reply. */
  reply(reply: CollectedReply, call: AnsweredCall): object;
}
