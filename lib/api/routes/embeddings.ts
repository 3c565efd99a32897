// POST /api/v1/embeddings: one vector for each text.

import { Buffer } from 'node:buffer';
import type { Lifecycle, ServerRoute } from '@hapi/hapi';
import { computeEmbeddingHold, type EmbeddingAnswer } from '../../calls/embeddings/engine.ts';
import { estimateInputs } from '../../calls/embeddings/estimate.ts';
import type { EmbeddingEstimate, EmbeddingRequest } from '../../calls/embeddings/request.ts';
import { chooseCatalog } from '../../catalog/catalog.ts';
import { findEmbeddingModel, refuseModel } from '../../catalog/lookup.ts';
import type { EmbeddingModel } from '../../catalog/model.ts';
import { SMALL_BYTES } from '../../http/memory-quota.ts';
import type { CallPrice } from '../../ledger/refusals.ts';
import { toRub } from '../../money/money.ts';
import { TEXT_MINIMUM } from '../../money/price.ts';
import type { Vector } from '../../upstream/contract/provider.ts';
import { confirmHolder } from '../auth.ts';
import { admitBody, refuseTooExpensive } from '../balance-check.ts';
import { readCallBody } from '../call-body.ts';
import { createCallContext } from '../call-context.ts';
import { countNumbers, refuseUnsuitable } from '../embedding-request.ts';
import { answerPieces, type PaidRequest, paidRoute } from '../paid-route.ts';
import type { Services } from '../services.ts';

export function embeddingRoute(services: Services): ServerRoute {
  return paidRoute('/api/v1/embeddings', services, answer);
}

const MINIMUM_PRICE: CallPrice = { kind: 'embedding', amount: TEXT_MINIMUM, isLeast: true };

async function answer(paid: PaidRequest): Promise<Lifecycle.ReturnValueTypes> {
  const { services, reservation, idempotency, h } = paid;
  const request = await readCallBody(paid, {
    format: 'embedding',
    admit: (bytes) => admitBody(paid, bytes, MINIMUM_PRICE),
    // Without its texts a long request says nothing about them, but has their estimate.
    inspectHead: async (head) => void (await admit(paid, findModel(paid, head), head)),
  });
  const model = findModel(paid, request);
  // Before anything else is awaited: bodies wait for the memory that has become free.
  reserveMemory(reservation, request, model);
  const estimate = await admit(paid, model, request);
  const holder = await confirmHolder(paid, services.holders);
  refuseModel(holder.limits, model);
  const context = {
    ...createCallContext({ ...paid, holder }, request.spending),
    idempotency: idempotency?.terms({ awaited: true }),
  };
  const answered = await services.embeddings.run({ model, request, estimate }, context);
  return answered ? answerPieces(paid, renderReply(answered, model, request.encoding)) : h.abandon;
}

/** The requested model, if it takes the request. */
function findModel({ services, holder }: PaidRequest, request: EmbeddingRequest): EmbeddingModel {
  const model = findEmbeddingModel(chooseCatalog(services.catalog(), holder), request.model, holder.limits);
  refuseUnsuitable(model, request);
  return model;
}

/** Refuses a request that the wallet cannot pay now. */
async function admit(paid: PaidRequest, model: EmbeddingModel, request: EmbeddingRequest): Promise<EmbeddingEstimate> {
  const estimate = request.estimate ?? (await estimateInputs(request));
  await refuseTooExpensive(paid, { kind: 'embedding', amount: computeEmbeddingHold(model, estimate) });
  return estimate;
}

const NUMBER_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** For the texts until the end of the call, and for the vectors, before anything is paid. */
function reserveMemory(
  reservation: PaidRequest['reservation'],
  request: EmbeddingRequest,
  model: EmbeddingModel,
): void {
  const { inputs, tokens = [] } = request;
  const numbers = countNumbers(model, request) + tokens.reduce((sum, ids) => sum + ids.length, 0);
  const bytes = NUMBER_BYTES * numbers + inputs.reduce((sum, text) => sum + text.length, 0);
  if (bytes > SMALL_BYTES) reservation.take(bytes);
}

/** In pieces: the numbers of 2,048 vectors may be 120 MB of text. */
function* renderReply(
  { vectors, tokens, paid }: EmbeddingAnswer,
  { id, price }: EmbeddingModel,
  encoding: EmbeddingRequest['encoding'],
): Generator<string> {
  const encode = encoding === 'base64' ? encodeBase64 : encodeNumbers;
  yield '{"object":"list","data":[';
  for (const [index, vector] of vectors.entries()) {
    yield `${index > 0 ? ',' : ''}{"object":"embedding","index":${index},"embedding":${encode(vector)}}`;
  }
  const rest = {
    model: id,
    usage: { prompt_tokens: tokens, total_tokens: tokens },
    billing: {
      charged_rub: toRub(paid.charged),
      reserved_rub: toRub(paid.reserved),
      balance_rub: toRub(paid.balance),
      unit: '1M_tokens',
      rub_per_mtok_in: toRub(price.input),
      rub_per_mtok: toRub(price.input),
    },
  };
  yield `],${JSON.stringify(rest).slice(1)}`;
}

/** Not by `JSON.stringify`, which writes an array of floats as an object. */
function encodeNumbers(vector: Vector): string {
  return `[${vector.join(',')}]`;
}

function encodeBase64(vector: Vector): string {
  const floats = vector instanceof Float32Array ? vector : Float32Array.from(vector);
  return `"${Buffer.from(floats.buffer, floats.byteOffset, floats.byteLength).toString('base64')}"`;
}
