// POST /api/v1/images/generations and /api/v1/images/edits; an edit may be JSON or a form.

import type { Lifecycle, ServerRoute } from '@hapi/hapi';
import type { ImageAnswer } from '../../calls/images/engine.ts';
import type { ImageRequest } from '../../calls/images/request.ts';
import { type Catalog, chooseCatalog } from '../../catalog/catalog.ts';
import { findEditModel, findImageModel, refuseModel } from '../../catalog/lookup.ts';
import type { ImageModel } from '../../catalog/model.ts';
import { readAnnouncedBytes } from '../../http/body.ts';
import { isForm, readForm } from '../../http/form.ts';
import type { CallPrice } from '../../ledger/refusals.ts';
import { IMAGE_BYTES_MAX } from '../../media/image.ts';
import { type RequestImage, releaseImages, toProviderImage } from '../../media/reference.ts';
import { toRub } from '../../money/money.ts';
import { confirmHolder } from '../auth.ts';
import { admitBody, refuseTooExpensive } from '../balance-check.ts';
import { createCallContext } from '../call-context.ts';
import { type ImageReply, readMadeImage, writeImageEvent, writeImageReply } from '../image-reply.ts';
import { classifyEditPart, parseEditForm } from '../image-request.ts';
import { answerEvents, answerJson, answerPieces, type PaidRequest, paidRoute } from '../paid-route.ts';
import { fetchLinkedImages, readPromptBody } from '../prompt-body.ts';
import type { Services } from '../services.ts';

export function imageRoutes(services: Services): readonly ServerRoute[] {
  return [
    paidRoute('/api/v1/images/generations', services, (paid) => answer(paid, generation)),
    paidRoute('/api/v1/images/edits', services, (paid) => answer(paid, edit)),
  ];
}

/** The differences between the two endpoints. */
interface Task {
  readonly kind: 'image' | 'edit';
  readonly format: 'generation' | 'edit';
  readonly takesForms: boolean;
  readonly findModel: typeof findImageModel;
  /** The event of a stream. */
  readonly event: string;
  reply(answer: Answer): ImageReply;
}

interface Answer extends ImageAnswer {
  readonly model: ImageModel;
  readonly url: string;
}

/** Clients expect a reply without model and billing. */
const generation: Task = {
  kind: 'image',
  format: 'generation',
  takesForms: false,
  findModel: findImageModel,
  event: 'image_generation.completed',
  reply: ({ image, url }) => ({ created: Math.floor(image.createdAt / 1000), data: [{ url }] }),
};

const edit: Task = {
  kind: 'edit',
  format: 'edit',
  takesForms: true,
  findModel: findEditModel,
  event: 'image_edit.completed',
  reply: ({ model, image, url, paid }) => ({
    created: Math.floor(image.createdAt / 1000),
    model: model.id,
    data: [{ url }],
    billing: { charged_rub: toRub(paid.charged), balance_rub: toRub(paid.balance) },
  }),
};

/** A generation that brings images is an edit, with the reply of a generation. */
function fitTask(task: Task, { isEdit }: ImageRequest): Task {
  return isEdit ? { ...task, kind: 'edit', findModel: findEditModel } : task;
}

async function answer(paid: PaidRequest, asked: Task): Promise<Lifecycle.ReturnValueTypes> {
  const imageRequest = await readRequest(paid, asked);
  const task = fitTask(asked, imageRequest);
  let { images } = imageRequest;
  try {
    const model = await findPayableModel(paid, task, imageRequest);
    images = await fetchLinkedImages(paid, imageRequest);
    const holder = await confirmHolder(paid, paid.services.holders);
    refuseModel(holder.limits, model);
    const made = await runEngine({ ...paid, holder }, { task, model, imageRequest, images });
    return made ? await reply(paid, { task, imageRequest }, made) : paid.h.abandon;
  } finally {
    releaseImages(images);
  }
}

async function reply(
  paid: PaidRequest,
  { task, imageRequest: { withBytes, stream } }: Pick<EngineRun, 'task' | 'imageRequest'>,
  made: Answer,
): Promise<Lifecycle.ReturnValueTypes> {
  const body = task.reply(made);
  const { results } = paid.services;
  const isShown = withBytes || stream;
  const image = isShown && (await readMadeImage(paid, { results, image: made.image }));
  try {
    if (stream) return await answerEvents(paid, writeImageEvent(task.event, body, image || undefined));
    return image ? await answerPieces(paid, writeImageReply(body, image.bytes)) : await answerJson(paid, body);
  } finally {
    if (image) image.release();
  }
}

interface EngineRun {
  readonly task: Task;
  readonly model: ImageModel;
  readonly imageRequest: ImageRequest;
  readonly images: readonly RequestImage[];
}

/** Resolves to undefined if the client has left. */
async function runEngine(
  paid: PaidRequest,
  { task, model, imageRequest, images }: EngineRun,
): Promise<Answer | undefined> {
  const { services } = paid;
  const { prompt, size, aspect } = imageRequest;
  // Plugins see absent fields, not undefined ones.
  const shape = { ...(size && { size }), ...(aspect !== undefined && { aspect }) };
  const call = { prompt, images: images.map(toProviderImage), ...shape };
  const idempotency = paid.idempotency?.terms({ awaited: !imageRequest.stream });
  const context = { ...createCallContext(paid, imageRequest.spending), idempotency };
  const made = await services.images.run({ kind: task.kind, model, call }, context);
  return made && { ...made, model, url: services.results.buildLink(made.image) };
}

/** The request; the reservation then holds its images. */
async function readRequest(paid: PaidRequest, task: Task): Promise<ImageRequest> {
  const { req } = paid.request.raw;
  const admit = (bytes: number | undefined) => admitBody(paid, bytes);
  if (task.takesForms && isForm(req.headers['content-type'])) {
    await admit(readAnnouncedBytes(req));
    return readFormRequest(paid);
  }
  return readPromptBody(paid, {
    format: task.format,
    typeHint: task.takesForms ? BOTH_TYPES : undefined,
    admit,
    inspectHead: async (head) => void (await findPayableModel(paid, fitTask(task, head), head)),
  });
}

const BOTH_TYPES = '`application/json` or `multipart/form-data`';
/** An image may also be sent as a data URI. */
const TEXT_BYTES_MAX = 12 * 1024 * 1024;

async function readFormRequest({
  request,
  services,
  call,
  reservation,
  idempotency,
}: PaidRequest): Promise<ImageRequest> {
  const { req } = request.raw;
  const body = { signal: call.signal, reservation, limits: services.bodyLimits };
  const kept = { classifyPart: classifyEditPart, fileBytesMax: IMAGE_BYTES_MAX, textBytesMax: TEXT_BYTES_MAX };
  const form = await readForm(req, { type: String(req.headers['content-type']), ...body, ...kept });
  if (idempotency) await idempotency.readForm(form);
  return parseEditForm(form);
}

/** The requested model, which the wallet can pay for now. */
async function findPayableModel(paid: PaidRequest, task: Task, imageRequest: ImageRequest): Promise<ImageModel> {
  const model = task.findModel(choosePrices(paid), imageRequest.model);
  refuseModel(paid.holder.limits, model);
  await refuseTooExpensive(paid, readPrice(task, model));
  return model;
}

function choosePrices({ services, holder }: PaidRequest): Catalog {
  return chooseCatalog(services.catalog(), holder);
}

function readPrice({ kind }: Task, model: ImageModel): CallPrice {
  return { kind, amount: model.price.request };
}
