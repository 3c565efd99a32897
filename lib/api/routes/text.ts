// The two text endpoints: the same handler over two dialects.
import type { Lifecycle, Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { type CallContext, GONE } from '../../call/context.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { findSmartModel, findTextModel } from '../../catalog/lookup.ts';
import { announcedBytes, readBody } from '../../http/body.ts';
import { type Share, SMALL_BYTES } from '../../http/budget.ts';
import { clocked, type LiveCall, stateOf } from '../../http/context.ts';
import { checkJsonType } from '../../http/json.ts';
import { commonHeaders } from '../../http/reply.ts';
import { createSseReply } from '../../http/sse-reply.ts';
import { insufficientFault, neverToppedFault } from '../../ledger/ledger.ts';
import { TEXT_MINIMUM, type TextPrice, textReserve } from '../../money/price.ts';
import { type CollectedReply, createCollector } from '../../stream/collect.ts';
import type { TextOutput } from '../../text/delivery.ts';
import { fetchPictures, inlineBytesOf } from '../../text/pictures.ts';
import type { TextRequest } from '../../text/request.ts';
import { confirmHolder, holderOf } from '../auth.ts';
import { chatDialect } from '../dialects/chat/dialect.ts';
import type { Dialect } from '../dialects/dialect.ts';
import { messageDialect } from '../dialects/message/dialect.ts';
import type { Services } from '../services.ts';
import { readWallet } from '../wallet.ts';

export function textRoutes(services: Services): readonly ServerRoute[] {
  return [
    textRoute('/api/v1/messages', messageDialect, services),
    textRoute('/api/v1/chat/completions', chatDialect, services),
  ];
}

function textRoute(path: string, dialect: Dialect, services: Services): ServerRoute {
  return {
    method: 'POST',
    path,
    options: { plugins: { limit: services.limits.generate } },
    handler: async (request, h) => {
      const call = services.calls.open(request);
      const share = services.budget.open(holderOf(request).id);
      try {
        return await answer(request, h, { dialect, services, call, share });
      } catch (error) {
        const { headersSent, destroyed } = request.raw.res;
        if (error === GONE || headersSent || destroyed) return abandon(request, h, error);
        throw error;
      } finally {
        share.giveBack();
        call.close();
      }
    },
  };
}

interface Answering {
  readonly dialect: Dialect;
  readonly services: Services;
  readonly call: LiveCall;
}

async function answer(request: Request, h: ResponseToolkit, answering: Sharing): Promise<Lifecycle.ReturnValueTypes> {
  const { dialect, services, call, share } = answering;
  const { signal } = call;
  const parsed = await readWhole(request, { ...answering, share });
  await confirmHolder(request, services.holders);
  const context = contextOf(request, services, signal);
  call.streams = parsed.stream;
  stateOf(request).notes.stream = parsed.stream;
  if (parsed.stream) {
    await services.text.run(parsed, context, streamOutput(request, dialect, services.clientStallMs));
    return h.abandon;
  }
  const reply = await collect(services, parsed, context);
  if (reply) writeJson(request, dialect.reply(reply, { vision: parsed.images > 0 }), services.clientStallMs);
  return h.abandon;
}

interface Sharing extends Answering {
  /** What the call holds of the memory for bodies and pictures. */
  readonly share: Share;
}

/** The request with all its pictures. */
async function readWhole(request: Request, reading: Sharing): Promise<TextRequest> {
  const { services, call, share } = reading;
  const parsed = await readRequest(request, reading);
  if (parsed.images === 0) return parsed;
  share.take(inlineBytesOf(parsed));
  await refusePenniless(request, services);
  const budget = {
    take(bytes: number) {
      share.take(bytes);
      return () => undefined;
    },
  };
  const { signal } = call;
  return fetchPictures(parsed, (url, field) => services.fetcher().fetchImage(url, { field, signal, budget }));
}

async function readRequest(request: Request, { dialect, services, call, share }: Sharing): Promise<TextRequest> {
  const { signal } = call;
  const { req } = request.raw;
  checkJsonType(req.headers['content-type']);
  if ((announcedBytes(req) ?? Number.POSITIVE_INFINITY) > SMALL_BYTES) await refusePenniless(request, services);
  try {
    const bytes = await readBody(req, { signal, share, limits: services.bodyLimits });
    const look = (head: TextRequest) => refuseUnpayable(request, services, head);
    return await services.parser.parse(bytes, { dialect: dialect.name, signal, look });
  } finally {
    share.giveBack();
  }
}

/** A long body is not even read for a wallet that has nothing to spend. */
async function refusePenniless(request: Request, { store }: Services): Promise<void> {
  const wallet = await clocked(stateOf(request), readWallet(store, holderOf(request).account));
  if (wallet.topped === 0n) throw neverToppedFault();
  if (wallet.avail <= 0n) throw insufficientFault(wallet, TEXT_MINIMUM);
}

/** Nor are its texts taken from where they were parsed when its wallet can't pay for them. */
async function refuseUnpayable(request: Request, { store, catalog }: Services, head: TextRequest): Promise<void> {
  const tokens = { input: head.input?.tokensHeld ?? 0, maxTokens: head.maxTokens };
  const reserves = pricesOf(catalog(), head.model).map((price) => textReserve(price, tokens));
  const wallet = await clocked(stateOf(request), readWallet(store, holderOf(request).account));
  // Before its texts are there nobody knows which model smart chooses: the cheapest may do.
  const [least = 0n] = reserves.sort((a, b) => Number(a - b));
  if (wallet.avail < least) throw insufficientFault(wallet, least);
}

/** Of the model that is asked for, or of those that may answer in its place. */
function pricesOf(catalog: Catalog, name: string): readonly TextPrice[] {
  const smart = findSmartModel(catalog, name);
  return smart ? Object.values(smart.models).map(({ price }) => price) : [findTextModel(catalog, name).price];
}

/** A reply past hapi's own transmission, which costs more than the rest of its request. */
function writeJson(request: Request, body: object, stallMs: number): void {
  const response = request.raw.res;
  const headers = commonHeaders(request);
  const text = JSON.stringify(body);
  const type = 'application/json; charset=utf-8';
  const length = Buffer.byteLength(text);
  response.writeHead(200, { ...headers, 'content-type': type, 'cache-control': 'no-cache', 'content-length': length });
  response.end(text);
  // A reader that takes nothing for so long is gone.
  if (response.writableLength > 0) response.setTimeout(stallMs, () => response.destroy());
}

/** The whole reply; undefined when the client left. */
async function collect(
  { text }: Services,
  parsed: TextRequest,
  context: CallContext,
): Promise<CollectedReply | undefined> {
  const { write, reply } = createCollector();
  let complete = false;
  await text.run(parsed, context, {
    live: false,
    open: () => undefined,
    write: (parts) => void write(parts),
    keepAlive: () => undefined,
    end: () => {
      complete = true;
    },
  });
  return complete ? reply() : undefined;
}

function streamOutput(request: Request, dialect: Dialect, stallMs: number): TextOutput {
  const render = dialect.createRenderer();
  const reply = createSseReply(request.raw.res, { headers: commonHeaders(request), stallMs });
  return {
    live: true,
    open: reply.open,
    write: (parts) => reply.write(render(parts)),
    keepAlive: reply.keepAlive,
    end: reply.end,
  };
}

function contextOf(request: Request, { log }: Services, signal: AbortSignal): CallContext {
  const { id: requestId, notes, startedAt, waitedMs } = stateOf(request);
  const { id: keyId, account: accountId } = holderOf(request);
  return {
    requestId,
    accountId,
    keyId,
    waitedMs,
    signal,
    onFirst: () => {
      notes.first_ms = Math.round(performance.now() - startedAt);
    },
    log: {
      debug: (fields, message) => log.debug({ request_id: requestId, ...fields }, message),
      warn: (fields, message) => log.warn({ request_id: requestId, ...fields }, message),
      error: (fields, message) => log.error({ request_id: requestId, ...fields }, message),
      note: (fields) => void Object.assign(notes, fields),
    },
  };
}

/** Nobody is there to be answered, or an answer has begun already. */
function abandon(request: Request, h: ResponseToolkit, error: unknown): symbol {
  if (error === GONE) stateOf(request).notes.ending = 'gone';
  if (error instanceof Error && !request.raw.res.destroyed) {
    stateOf(request).notes.err = error;
    request.raw.res.destroy();
  }
  return h.abandon;
}
