// What a text wire format provides to the shared engine: reading requests, writing replies, streams and errors.
import type { Fault } from '../../base/faults.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import type { CollectedReply } from '../../stream/collect.ts';
import type { StreamPart } from '../../stream/part.ts';
import type { Transform } from '../../stream/pipeline.ts';

export interface Dialect {
  readonly name: 'message' | 'chat';
  /** Checks and reads a parsed JSON body. Throws 400 faults that name the field. */
  parse(body: unknown): TextRequest;
  /** Makes of the parts of one stream the text of their events: at most one string for a batch. */
  createRenderer(): Transform<StreamPart, string>;
  /** The body of a non-streaming reply; `vision` if its call had images. */
  reply(reply: CollectedReply, call: { readonly vision: boolean }): object;
  /** The body of an error. */
  fault(fault: Fault): object;
}
