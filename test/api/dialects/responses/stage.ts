// What the tests of the responses dialect share: requests as its clients write them, and the events of an answer.

import { createResponsesRenderer, responsesReply } from '../../../../lib/api/dialects/responses/render.ts';
import { parseResponsesRequest } from '../../../../lib/api/dialects/responses/request.ts';
import type { CollectedReply } from '../../../../lib/stream/collect.ts';
import type { StreamPart } from '../../../../lib/stream/part.ts';
import { parseEvents } from '../../../../testkit/client.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
export type Json = any;

export const START: StreamPart = { type: 'start', id: 'req_1', model: 'm "1"' };
export const TEXT: StreamPart = { type: 'block-start', index: 0, block: { type: 'text' } };
export const delta = (index: number, text: string): StreamPart => ({ type: 'block-delta', index, text });
export const end = (index: number): StreamPart => ({ type: 'block-end', index });
export const FINISH: StreamPart = { type: 'finish', reason: 'stop' };

export const parse = (body: object) => parseResponsesRequest({ model: 'm', input: 'hi', ...body });

const answered = (body: object) => ({ id: 'req_1', vision: false, echo: parse(body).echo });

/** The events of an answer to a request, with their names checked and their numbers without a gap. */
export function eventsOf(parts: readonly StreamPart[], body: object = {}): readonly Json[] {
  const renderer = createResponsesRenderer(answered(body));
  const events = parseEvents(parts.flatMap((part) => renderer.push([part])).join(''));
  return events.map(({ event, data }, at) => {
    if (data.type !== event) throw new Error(`${event} says that it is ${data.type}`);
    if (data.sequence_number !== at) throw new Error(`${event} has number ${data.sequence_number}, not ${at}`);
    return data;
  });
}

export const replyOf = (reply: CollectedReply, body: object = {}): Json => responsesReply(reply, answered(body));
