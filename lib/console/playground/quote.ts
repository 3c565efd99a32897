// The price of a playground call; nothing is sent. Read by the parsers of lib/api, so that the quote is what the API
// would charge.
import { parseChatRequest } from '../../api/dialects/chat/request.ts';
import { parseEmbedding, refuseUnsuitable } from '../../api/embedding-request.ts';
import { parseVideo } from '../../api/video-request.ts';
import { fault } from '../../base/faults.ts';
import { computeEmbeddingHold } from '../../calls/embeddings/engine.ts';
import { estimateInputs } from '../../calls/embeddings/estimate.ts';
import { chooseModel } from '../../calls/text/choice.ts';
import { estimateInput } from '../../calls/text/estimate.ts';
import { computeHold, listCacheWrites } from '../../calls/text/hold.ts';
import { listVisionModels } from '../../calls/text/vision.ts';
import { computeVideoTerms, type VideoTerms } from '../../calls/videos/terms.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { findEditModel, findEmbeddingModel, findImageModel, findModel, refuseModel } from '../../catalog/lookup.ts';
import type { TextModel } from '../../catalog/model.ts';
import type { RequestImage } from '../../media/reference.ts';
import { type KeyLimits, NO_LIMITS } from '../../money/key-limits.ts';
import type { Micro } from '../../money/money.ts';
import type { TextPrice } from '../../money/price.ts';
import { buildRequestBody, IMAGE_FIELD, type PlaygroundForm } from './fields.ts';
import { attachImages } from './images.ts';

export interface Quote {
  /** What is held for text and embeddings, and charged for the rest. */
  readonly amount: Micro;
  /** The model that would answer. */
  readonly model: string;
  /** Text only. */
  readonly price?: TextPrice;
  /** Embeddings only, for 1M tokens. */
  readonly tokenPrice?: Micro;
  /** Video only. */
  readonly terms?: VideoTerms;
}

/** Throws the faults that the call's model or fields would be refused with. */
export async function quoteCall(
  catalog: Catalog,
  input: PlaygroundForm,
  limits: KeyLimits | undefined,
): Promise<Quote> {
  switch (input.kind) {
    case 'text': {
      const request = attachImages(
        parseChatRequest(buildRequestBody(input)),
        Array(input.imageCount + input.keptCount).fill(UNKNOWN_IMAGE),
        input,
      );
      const { model } = chooseModel(catalog, request, limits);
      const { tokensHeld, audioTokens } = await estimateInput(request);
      const { maxTokens } = request;
      const writes = listCacheWrites(model, request);
      const amount = computeHold(model, { tokensHeld, audioTokens, maxTokens, writes });
      const answering = request.images > 0 ? findVisionModel(catalog, model, limits) : model;
      return { amount, model: answering.id, price: model.price };
    }
    case 'embedding': {
      const request = parseEmbedding(buildRequestBody(input));
      const model = findEmbeddingModel(catalog, request.model, limits);
      refuseUnsuitable(model, request);
      const amount = computeEmbeddingHold(model, await estimateInputs(request));
      return { amount, model: model.id, tokenPrice: model.price.input };
    }
    case 'image': {
      const model = (input.imageCount > 0 ? findEditModel : findImageModel)(catalog, input.model);
      if (limits) refuseModel(limits, model);
      return { amount: model.price.request, model: model.id };
    }
    case 'video': {
      const model = findModel(catalog, input.model, 'video');
      if (limits) refuseModel(limits, model);
      const terms = computeVideoTerms(model, parseVideo(buildRequestBody(input)));
      return { amount: terms.price.amount, model: model.id, terms };
    }
  }
}

/** A placeholder: every image counts the same. */
const UNKNOWN_IMAGE: RequestImage = { type: 'image', field: IMAGE_FIELD, source: '' };

/** The vision model that is tried first. */
function findVisionModel(catalog: Catalog, model: TextModel, limits: KeyLimits = NO_LIMITS): TextModel {
  const [first] = listVisionModels(catalog, model, limits);
  if (!first) throw fault('vision_unavailable');
  return first;
}
