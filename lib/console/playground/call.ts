// The calls of the playground: the API's own engines, in process, paid by the account through one of its keys. It reads
// and admits a call with the code of lib/api, so that a call costs and is refused here exactly as there.

import { orUnavailable } from '../../accounts/read-wallet.ts';
import { authenticateAs } from '../../api/auth.ts';
import { refuseEmpty } from '../../api/balance-check.ts';
import { createCallContext } from '../../api/call-context.ts';
import { createChatRenderer } from '../../api/dialects/chat/render.ts';
import { parseChatRequest } from '../../api/dialects/chat/request.ts';
import { parseEmbedding, refuseUnsuitable } from '../../api/embedding-request.ts';
import { parseGeneration } from '../../api/image-request.ts';
import { endUnanswered } from '../../api/paid-route.ts';
import { parseVideo } from '../../api/video-request.ts';
import { type Fault, fault } from '../../base/faults.ts';
import type { CallContext } from '../../calls/context.ts';
import type { EmbeddingAnswer } from '../../calls/embeddings/engine.ts';
import { estimateInputs } from '../../calls/embeddings/estimate.ts';
import type { ImageAnswer } from '../../calls/images/engine.ts';
import { collectReply } from '../../calls/text/collect.ts';
import type { TextOutput } from '../../calls/text/output.ts';
import type { VideoStarted } from '../../calls/videos/engine.ts';
import { computeVideoTerms } from '../../calls/videos/terms.ts';
import { chooseCatalog } from '../../catalog/catalog.ts';
import { findEditModel, findEmbeddingModel, findImageModel, findModel, refuseModel } from '../../catalog/lookup.ts';
import { readAnnouncedBytes } from '../../http/body.ts';
import { SMALL_BYTES } from '../../http/memory-quota.ts';
import { commonHeaders } from '../../http/reply.ts';
import { getRequestState, type LiveCall } from '../../http/request-state.ts';
import { SseReply } from '../../http/sse-reply.ts';
import { type RequestImage, toProviderImage } from '../../media/reference.ts';
import type { KeyHolder } from '../../store/ports/keys.ts';
import { AnswerMemory } from '../../stream/answer-memory.ts';
import { type CollectedReply, createCollector } from '../../stream/collect.ts';
import { listVisibleKeys } from '../visible-keys.ts';
import type { OwnerVisit } from '../visit.ts';
import { buildRequestBody, type PlaygroundForm } from './fields.ts';
import { attachImages } from './images.ts';

/** How a text call ended: with its bill, or with a fault. */
export type TextEnding = CollectedReply | Fault;

type InputImages = readonly RequestImage[];

/** Like the other calls here, resolves to undefined if the client has left. */
export function generateText(
  visit: OwnerVisit,
  input: PlaygroundForm,
  inputImages: InputImages,
): Promise<CollectedReply | undefined> {
  return runCallAsKey(visit, input.key, (context) =>
    collectReply(
      visit.services.text,
      attachImages(parseChatRequest(buildRequestBody(input)), inputImages, input),
      context,
    ),
  );
}

interface StreamOptions {
  readonly inputImages: InputImages;
  /** What the last event says. */
  describeOutcome(ending: TextEnding): object;
}

/**
 * Streams the answer as the events of the chat dialect, then one named `outcome` with what the page shows below the
 * text and the conversation so far. Throws faults as long as nothing was written.
 */
export async function streamText(
  visit: OwnerVisit,
  input: PlaygroundForm,
  { inputImages, describeOutcome }: StreamOptions,
): Promise<void> {
  await runCallAsKey(visit, input.key, async (context, call) => {
    call.isStream = true;
    getRequestState(visit.request).notes.stream = true;
    const request = attachImages(parseChatRequest({ ...buildRequestBody(input), stream: true }), inputImages, input);
    await visit.services.text.run(request, context, streamOutput(visit, describeOutcome));
  });
}

function streamOutput(
  { request, services }: OwnerVisit,
  describeOutcome: StreamOptions['describeOutcome'],
): TextOutput {
  const renderer = createChatRenderer();
  const reply = new SseReply(request.raw.res, { headers: commonHeaders(request), stallMs: services.clientStallMs });
  const collector = createCollector();
  let failure: Fault | undefined;
  return {
    live: true,
    sink: {
      open: () => reply.open(),
      heartbeat: () => reply.heartbeat(),
      push(parts) {
        for (const part of parts) {
          if (part.type === 'error') failure = part.fault;
          else collector.write([part]);
        }
        return reply.push(renderer.push(parts));
      },
      close() {
        const outcome = describeOutcome(failure ?? collector.reply());
        void reply.write(`event: outcome\ndata: ${JSON.stringify(outcome)}\n\n`);
        reply.close();
      },
    },
  };
}

/** Turns the prompt into a vector. */
export function makeEmbedding(visit: OwnerVisit, input: PlaygroundForm): Promise<EmbeddingAnswer | undefined> {
  const { embeddings, catalog } = visit.services;
  return runCallAsKey(visit, input.key, async (context) => {
    const request = parseEmbedding(buildRequestBody(input));
    const model = findEmbeddingModel(chooseCatalog(catalog(), context), request.model, context.limits);
    refuseUnsuitable(model, request);
    return embeddings.run({ model, request, estimate: await estimateInputs(request) }, context);
  });
}

export interface ImageResult extends ImageAnswer {
  readonly url: string;
}

/** Generates an image, or edits those that were uploaded. */
export function generateImage(
  visit: OwnerVisit,
  input: PlaygroundForm,
  inputImages: InputImages,
): Promise<ImageResult | undefined> {
  const isEdit = inputImages.length > 0;
  const { images, results, catalog } = visit.services;
  return runCallAsKey(visit, input.key, async (context) => {
    const { model: name, prompt, size } = parseGeneration(buildRequestBody(input));
    const model = (isEdit ? findEditModel : findImageModel)(chooseCatalog(catalog(), context), name);
    if (context.limits) refuseModel(context.limits, model);
    const call = { prompt, images: inputImages.map(toProviderImage), size };
    const answer = await images.run({ kind: isEdit ? 'edit' : 'image', model, call }, context);
    return answer && { ...answer, url: results.buildLink(answer.image) };
  });
}

export function startVideo(
  visit: OwnerVisit,
  input: PlaygroundForm,
  inputImages: InputImages,
): Promise<VideoStarted | undefined> {
  const { videos, catalog } = visit.services;
  return runCallAsKey(visit, input.key, async (context) => {
    const videoRequest = parseVideo(buildRequestBody(input));
    const model = findModel(chooseCatalog(catalog(), context), videoRequest.model, 'video');
    if (context.limits) refuseModel(context.limits, model);
    if (model.routes.length === 0) throw fault('video_unavailable');
    context.log.note({ model: model.id });
    const [image] = inputImages.map(toProviderImage);
    return videos.start(
      { model, terms: computeVideoTerms(model, videoRequest), prompt: videoRequest.prompt, image },
      context,
    );
  });
}

/** Like in the API, a long form is not read if the wallet is empty. */
export async function refuseLongForm({ request, services, account }: OwnerVisit): Promise<void> {
  if ((readAnnouncedBytes(request.raw.req) ?? Number.POSITIVE_INFINITY) <= SMALL_BYTES) return;
  const payer = { services, state: getRequestState(request), holder: { account: account.id } };
  await refuseEmpty(payer);
}

/** Runs a call for a key of the account, under that key's rate limit. */
async function runCallAsKey<T>(
  visit: OwnerVisit,
  keyId: string,
  run: (context: CallContext, call: LiveCall) => Promise<T>,
): Promise<T | undefined> {
  const { request, services } = visit;
  const holder = await findKeyHolder(visit, keyId);
  await authenticateAs(holder, request, { ...services, rule: services.limits.generate });
  const state = getRequestState(request);
  const call = services.calls.open(request);
  const answerMemory = new AnswerMemory(services.memoryQuota, holder.id);
  try {
    return await run(createCallContext({ state, holder, call, services, answerMemory, request }), call);
  } catch (error) {
    if (endUnanswered(request.raw.res, state, error)) return undefined;
    throw error;
  } finally {
    answerMemory.releaseAll();
    call.close();
  }
}

/** A key that the visitor cannot see is treated as unknown. */
async function findKeyHolder(visit: OwnerVisit, keyId: string): Promise<KeyHolder> {
  const rows = await orUnavailable(listVisibleKeys(visit));
  const row = rows.find(({ id }) => id === keyId);
  const holder = row && (await visit.services.holders.findAgain(row));
  if (!holder) throw fault('invalid_key');
  return holder;
}
