// States that upstreams want back with earlier answers. A vendor binds them to an account, an endpoint or a model, so after a
// change of one of these it may refuse what it signed or encrypted itself: the conversation goes on without them.

import { RESPONSES_FORMAT } from '../../upstream/formats/names.ts';
import { isUpstreamFault } from '../../upstream/host/fault.ts';
import type { Ending } from '../ending.ts';
import type { RequestContent, RequestMessage } from './request.ts';

const REFUSALS = new RegExp(
  [
    /signature|redacted_thinking|(expected|cannot contain) `thinking`/,
    /encrypted[_ ]content|compaction blob|'reasoning(_text)?'/,
    /required '?(reasoning'?|following) item|item with id .{1,200} not found/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'i',
);

/** Whether the upstream refuses the request for the states in it. */
export function isRefusedForStates(ending: Ending): boolean {
  const cause = ending.type === 'error' ? ending.fault.cause : undefined;
  return isUpstreamFault(cause) && cause.kind === 'request' && cause.about === undefined && REFUSALS.test(cause.detail);
}

export function hasStates(messages: readonly RequestMessage[]): boolean {
  return messages.some(({ content }) => content.some(isDroppable));
}

export function dropStates(messages: readonly RequestMessage[]): readonly RequestMessage[] {
  return messages.map((message) => ({ ...message, content: message.content.flatMap(dropState) }));
}

function dropState(part: RequestContent): RequestContent | [] {
  if (!isDroppable(part)) return part;
  const { state: _, ...rest } = part;
  // Without its state there is nothing in it.
  return rest.type === 'reasoning' && rest.text === '' ? [] : rest;
}

/** Not what a vendor made of earlier turns: they would be missing. */
function isDroppable(part: RequestContent): part is Extract<RequestContent, { readonly state?: unknown }> {
  if (part.type === 'reasoning')
    return part.state !== undefined && !(part.redacted && part.state.format === RESPONSES_FORMAT);
  return part.type === 'tool-call' && part.state !== undefined;
}
