// Which of several equal routes and keys a conversation starts at: always the same, so that it finds its cached prompt.
import { createHash } from 'node:crypto';
import { hashName, scoreChoice } from '../../base/rendezvous.ts';
import type { Route, TextModel } from '../../catalog/model.ts';
import { listRates } from '../../money/price.ts';
import type { BlockState } from '../../stream/provider-part.ts';
import { PLUGIN_FORMAT } from '../../upstream/formats/names.ts';
import type { CallContext } from '../context.ts';
import type { RouteHealth } from '../health.ts';
import type { RequestContent, TextRequest } from './request.ts';

/** The caller: conversation names are its own, and mean nothing across accounts. */
export type Caller = Pick<CallContext, 'accountId' | 'session'>;

const NAME_CHARACTERS = 16;

/**
 * An opaque name of the conversation; undefined at a model without a price of cached tokens, and where there is nothing
 * to choose and the client gives no name.
 */
export function nameConversation(model: TextModel, request: TextRequest, caller: Caller): string | undefined {
  const given = request.cacheKey ?? caller.session ?? request.userId;
  if (!hasCachePrice(model) || (given === undefined && !hasChoice(model))) return undefined;
  const hash = createHash('sha256').update(JSON.stringify([caller.accountId, model.id]));
  if (given !== undefined) hash.update(given);
  else for (const text of listOpeningTexts(request)) hash.update(text);
  return hash.digest('hex').slice(0, NAME_CHARACTERS);
}

/** Without one, cached tokens cost the same as others, and there is nothing to gain. */
function hasCachePrice({ price }: TextModel): boolean {
  return listRates(price).some(
    ({ cacheRead, cacheWrite, cacheWrite1h }) => (cacheRead ?? cacheWrite ?? cacheWrite1h) !== undefined,
  );
}

function hasChoice({ routes }: TextModel): boolean {
  return routes.length > 1 || routes.some(({ keys }) => keys > 1);
}

/** The system prompt and the first user message: what stays the same from turn to turn. */
function* listOpeningTexts({ system = [], messages }: TextRequest): Iterable<string> {
  for (const { text } of system) yield text;
  const first = messages.find(({ role }) => role === 'user');
  for (const part of first?.content ?? []) if (part.type === 'text') yield part.text;
}

/**
 * The routes in the model's order; of those that the order prefers equally, a conversation has its own first. Speed, which
 * changes by the minute, gives way to that.
 */
export function orderRoutes(
  model: TextModel,
  conversation: string | undefined,
  health: Pick<RouteHealth, 'inOrder'>,
): readonly Route[] {
  if (conversation === undefined || model.routes.length < 2) return health.inOrder(model);
  const name = hashName(conversation);
  return model.routes
    .map((route) => ({ route, score: scoreChoice(name, hashName(route.key)) }))
    .sort((one, other) => one.route.rank - other.route.rank || other.score - one.score)
    .map(({ route }) => route);
}

/**
 * Inside a tool loop, first the routes that can read the latest state: any other would get the request without it.
 */
export function preferStateMaker<Candidate extends { readonly route: Pick<Route, 'provider'> }>(
  candidates: readonly Candidate[],
  { messages }: Pick<TextRequest, 'messages'>,
): readonly Candidate[] {
  const last = messages.findLast(({ role }) => role !== 'system');
  if (candidates.length < 2 || !last?.content.some(({ type }) => type === 'tool-result')) return candidates;
  const format = findLastState(messages)?.format;
  if (format === undefined) return candidates;
  const takes = ({ route: { provider } }: Candidate) => (provider.stateFormat ?? PLUGIN_FORMAT) === format;
  return [...candidates.filter(takes), ...candidates.filter((candidate) => !takes(candidate))];
}

function findLastState(messages: TextRequest['messages']): BlockState | undefined {
  const last = messages.findLast(({ content }) => content.some(hasState));
  const part = last?.content.findLast(hasState);
  return part && hasState(part) ? part.state : undefined;
}

function hasState(part: RequestContent): part is RequestContent & { readonly state: BlockState } {
  return 'state' in part && part.state !== undefined;
}
