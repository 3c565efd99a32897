// The text endpoints: one handler answers over every dialect, others only count the tokens of a request.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Lifecycle, ServerRoute } from '@hapi/hapi';
import type { CallContext } from '../../calls/context.ts';
import { findLeastPrice, listEligibleModels } from '../../calls/text/choice.ts';
import { collectReply } from '../../calls/text/collect.ts';
import { estimateInput } from '../../calls/text/estimate.ts';
import { fetchPromptImages } from '../../calls/text/images.ts';
import type { TextOutput } from '../../calls/text/output.ts';
import type { TextRequest } from '../../calls/text/request.ts';
import { measureRequest, releaseTextRequest } from '../../calls/text/request-memory.ts';
import { chooseCatalog } from '../../catalog/catalog.ts';
import { SMALL_BYTES } from '../../http/memory-quota.ts';
import { SseReply } from '../../http/sse-reply.ts';
import type { CallPrice } from '../../ledger/refusals.ts';
import { readLinkedImage } from '../../media/linked.ts';
import type { FetchReference } from '../../media/reference.ts';
import { TEXT_MINIMUM } from '../../money/price.ts';
import type { CollectedReply } from '../../stream/collect.ts';
import { confirmHolder } from '../auth.ts';
import { admitBody, refuseTooExpensive } from '../balance-check.ts';
import { readCallBody } from '../call-body.ts';
import { createCallContext, readSession } from '../call-context.ts';
import { chatDialect } from '../dialects/chat/dialect.ts';
import type { AnsweredCall, Dialect } from '../dialects/dialect.ts';
import { messageDialect } from '../dialects/message/dialect.ts';
import { compactionDialect, responsesDialect } from '../dialects/responses/dialect.ts';
import { writeLongReply } from '../long-reply.ts';
import { readBetas } from '../message-headers.ts';
import { answerJson, answerPieces, type PaidRequest, paidRoute } from '../paid-route.ts';
import type { Services } from '../services.ts';

export function textRoutes(services: Services): readonly ServerRoute[] {
  return [
    textRoute('/api/v1/messages', messageDialect, services),
    textRoute('/api/v1/chat/completions', chatDialect, services),
    textRoute('/api/v1/responses', responsesDialect, services),
    textRoute('/api/v1/responses/compact', compactionDialect, services),
    countRoute('/api/v1/messages/count_tokens', 'message', services),
    countRoute('/api/v1/responses/input_tokens', 'responses', services),
  ];
}

/** Agents ask for dozens of counts when they start: these must not take the place of their first message. */
function countRoute(path: string, format: CountFormat, services: Services): ServerRoute {
  return paidRoute(path, services, (paid) => countTokens(paid, format), { freeLimit: services.limits.count });
}

type CountFormat = 'message' | 'responses';

const MINIMUM_PRICE: CallPrice = { kind: 'text', amount: TEXT_MINIMUM, isLeast: true };

function textRoute(path: string, dialect: Dialect, services: Services): ServerRoute {
  return paidRoute(path, services, (paid) => answer(paid, dialect));
}

interface PreparedRequest {
  readonly request: TextRequest;
  readonly context: CallContext;
}

/** Its steps are functions of their own: one that waits for the end of a stream would keep what all of them needed. */
async function answer(paid: PaidRequest, dialect: Dialect): Promise<Lifecycle.ReturnValueTypes> {
  const { request, context } = await prepareCall(paid, dialect);
  const answered: AnsweredCall = { id: context.requestId, vision: request.images > 0, echo: request.echo };
  if (request.stream) return answerStream(paid, { request, context, renderer: dialect.createRenderer(answered) });
  try {
    const reply = await collectReply(paid.services.text, request, context);
    return reply ? await answerReply(paid, dialect.reply(reply, answered), reply) : paid.h.abandon;
  } finally {
    releaseTextRequest(request);
  }
}

function answerReply(paid: PaidRequest, body: object, reply: CollectedReply): Promise<symbol> {
  const pieces = writeLongReply(body, reply);
  return pieces ? answerPieces(paid, pieces) : answerJson(paid, body);
}

/** Reads the request, with the images it links to. */
async function prepareCall(paid: PaidRequest, dialect: Dialect): Promise<PreparedRequest> {
  const { request, services, call, reservation } = paid;
  const { limits } = paid.holder;
  const priced = () => chooseCatalog(services.catalog(), paid.holder);
  const read = await readCallBody(paid, {
    format: dialect.name,
    admit: (bytes) => admitBody(paid, bytes, MINIMUM_PRICE),
    inspectHead: async (head) => refuseTooExpensive(paid, findLeastPrice(priced(), head, limits)),
  });
  let parsed: TextRequest = { ...read, ...readBetas(request.raw.req.headers) };
  try {
    const bytes = measureRequest(parsed);
    // Until no route can need the request any more.
    if (bytes > SMALL_BYTES) reservation.take(bytes);
    if (parsed.images + (parsed.answerImages ?? 0) > 0) {
      parsed = { ...parsed, estimate: parsed.estimate ?? (await estimateInput(parsed)) };
      // Before any is fetched.
      await refuseTooExpensive(paid, findLeastPrice(priced(), parsed, limits));
      const fetch: FetchReference = (url, options) =>
        readLinkedImage(services, url, { ...options, budget: reservation });
      parsed = await fetchPromptImages(parsed, fetch, call.signal);
    }
    return { request: parsed, context: await prepareContext(paid, parsed) };
  } catch (error) {
    releaseTextRequest(parsed);
    throw error;
  }
}

async function prepareContext(paid: PaidRequest, { stream, spending }: TextRequest): Promise<CallContext> {
  const { request, services, state, call, idempotency } = paid;
  const holder = await confirmHolder(paid, services.holders);
  call.isStream = stream;
  state.notes.stream = stream;
  return {
    ...createCallContext({ ...paid, holder }, spending),
    session: readSession(request.raw.req.headers),
    idempotency: idempotency?.terms({ awaited: !stream }),
  };
}

interface StreamedRequest extends PreparedRequest {
  readonly renderer: TextOutput<string>['renderer'];
}

function answerStream(
  { request: { raw }, headers, services, onBegun, h }: PaidRequest,
  { request, context, renderer }: StreamedRequest,
): Promise<symbol> {
  const { clientStallMs: stallMs } = services;
  const sink = new SseReply(raw.res, { headers, stallMs, onOpen: onBegun });
  const running = services.text.run(request, context, { live: true, renderer, sink });
  return endStream(running, { request, response: raw.res, value: h.abandon });
}

interface EndedStream {
  readonly request: TextRequest;
  readonly response: ServerResponse;
  readonly value: symbol;
}

/** A function of its own, which refers to nothing else. */
function endStream(running: Promise<void>, { request, response, value }: EndedStream): Promise<symbol> {
  return running.then(
    async () => {
      releaseTextRequest(request);
      await waitUntilSent(response);
      return value;
    },
    (error: unknown) => {
      releaseTextRequest(request);
      throw error;
    },
  );
}

/**
 * What a slow client still has to take of an end with images counts as the call's memory; a stalled one is disconnected.
 * Never rejects: the call is settled, however its connection ends.
 */
export function waitUntilSent(response: ServerResponse): Promise<unknown> | undefined {
  const waiting = response.socket?.writableLength ?? 0;
  return waiting > SMALL_BYTES && !response.closed ? once(response, 'close').catch(() => undefined) : undefined;
}

/** Linked images are not fetched: each counts the same. */
async function countTokens(paid: PaidRequest, format: CountFormat): Promise<Lifecycle.ReturnValueTypes> {
  const parsed = await readCallBody(paid, { format });
  try {
    // Throws where no model may answer.
    listEligibleModels(paid.services.catalog(), parsed, paid.holder.limits);
    const { tokensHeld } = parsed.estimate ?? (await estimateInput(parsed));
    return { ...(format === 'responses' && { object: 'response.input_tokens' }), input_tokens: tokensHeld };
  } finally {
    releaseTextRequest(parsed);
  }
}
