// The two picture endpoints, generation and edits; an edit may be JSON or a form.
import type { Lifecycle, ServerRoute } from '@hapi/hapi';
import type { ImageAnswer } from '../../calls/images/engine.ts';
import type { ImageRequest } from '../../calls/images/request.ts';
import { refuseModel } from '../../catalog/allowed.ts';
import { findEditModel, findImageModel } from '../../catalog/lookup.ts';
import type { ImageModel } from '../../catalog/model.ts';
import { isForm, readForm } from '../../http/form.ts';
import { checkJsonType } from '../../http/json.ts';
import { IMAGE_BYTES_MAX } from '../../media/image.ts';
import { pictureOf, type RequestPicture, releasePictures } from '../../media/reference.ts';
import { toRub } from '../../money/money.ts';
import { confirmHolder, holderOf } from '../auth.ts';
import { classifyEditPart, parseEditForm } from '../image-request.ts';
import {
  admitBody,
  answerJson,
  type Cost,
  contextOf,
  type PaidRequest,
  paidRoute,
  refuseUnpayable,
} from '../paid-route.ts';
import { readPromptBody, withLinked } from '../prompt-body.ts';
import type { Services } from '../services.ts';

export function imageRoutes(services: Services): readonly ServerRoute[] {
  return [
    paidRoute('/api/v1/images/generations', services, (paid) => answer(paid, generation)),
    paidRoute('/api/v1/images/edits', services, (paid) => answer(paid, edit)),
  ];
}

/** How the two endpoints differ. */
interface Task {
  readonly kind: 'image' | 'edit';
  readonly format: 'generation' | 'edit';
  readonly takesForms: boolean;
  readonly findModel: typeof findImageModel;
  reply(answer: Answer): object;
}

interface Answer extends ImageAnswer {
  readonly model: ImageModel;
  readonly url: string;
}

/** Spec-fixed shape: no model and no billing. */
const generation: Task = {
  kind: 'image',
  format: 'generation',
  takesForms: false,
  findModel: findImageModel,
  reply: ({ picture, url }) => ({ created: Math.floor(picture.createdAt / 1000), data: [{ url }] }),
};

const edit: Task = {
  kind: 'edit',
  format: 'edit',
  takesForms: true,
  findModel: findEditModel,
  reply: ({ model, picture, url, paid }) => ({
    created: Math.floor(picture.createdAt / 1000),
    model: model.id,
    data: [{ url }],
    billing: { charged_rub: toRub(paid.charged), balance_rub: toRub(paid.balance) },
  }),
};

async function answer(paid: PaidRequest, task: Task): Promise<Lifecycle.ReturnValueTypes> {
  const asked = await readRequest(paid, task);
  let { pictures } = asked;
  try {
    const model = await findPayable(paid, task, asked);
    pictures = await withLinked(paid, asked);
    await confirmHolder(paid.request, paid.services.holders, model);
    const made = await make(paid, { task, model, asked, pictures });
    return made ? answerJson(paid, task.reply(made)) : paid.h.abandon;
  } finally {
    releasePictures(pictures);
  }
}

interface Making {
  readonly task: Task;
  readonly model: ImageModel;
  readonly asked: ImageRequest;
  readonly pictures: readonly RequestPicture[];
}

/** Undefined if the client left. */
async function make(paid: PaidRequest, { task, model, asked, pictures }: Making): Promise<Answer | undefined> {
  const { services } = paid;
  const { prompt, size, aspect } = asked;
  const shape = { ...(size && { size }), ...(aspect !== undefined && { aspect }) };
  const call = { prompt, images: pictures.map(pictureOf), ...shape };
  const repeat = paid.repeat?.terms({ awaited: true });
  const context = { ...contextOf(paid), ...(repeat && { repeat }) };
  const made = await services.images.run({ kind: task.kind, model, call }, context);
  return made && { ...made, model, url: services.results.linkOf(made.picture) };
}

/** The request; the reservation then holds the pictures that came with it. */
async function readRequest(paid: PaidRequest, task: Task): Promise<ImageRequest> {
  const { req } = paid.request.raw;
  const type = req.headers['content-type'];
  const reads = task.takesForms && isForm(type) ? readFormRequest : readJsonRequest;
  if (reads === readJsonRequest) checkJsonType(type, task.takesForms ? BOTH_TYPES : undefined);
  await admitBody(paid, () => costOf(task, defaultOf(paid, task)));
  return reads(paid, task);
}

const BOTH_TYPES = '`application/json` or `multipart/form-data`';
/** A picture may also be sent as text: a data URI. */
const TEXT_BYTES_MAX = 12 * 1024 * 1024;

async function readFormRequest({ request, services, call, reservation, repeat }: PaidRequest): Promise<ImageRequest> {
  const { req } = request.raw;
  const body = { signal: call.signal, reservation, limits: services.bodyLimits };
  const kept = { classifyPart: classifyEditPart, fileBytesMax: IMAGE_BYTES_MAX, textBytesMax: TEXT_BYTES_MAX };
  const form = await readForm(req, { type: String(req.headers['content-type']), ...body, ...kept });
  if (repeat) await repeat.readForm(form);
  return parseEditForm(form);
}

async function readJsonRequest(paid: PaidRequest, task: Task): Promise<ImageRequest> {
  return readPromptBody(paid, task.format, async (head) => void (await findPayable(paid, task, head)));
}

/** The requested model, which the wallet can pay for now. */
async function findPayable({ request, services }: PaidRequest, task: Task, asked: ImageRequest): Promise<ImageModel> {
  const model = task.findModel(services.catalog(), asked.model);
  refuseModel(holderOf(request).limits, model);
  await refuseUnpayable(request, services, costOf(task, model));
  return model;
}

function defaultOf({ services }: PaidRequest, { kind }: Task): ImageModel | undefined {
  return services.catalog().defaults[kind];
}

function costOf({ kind }: Task, model: ImageModel | undefined): Cost {
  return { kind, amount: model?.price.request ?? 0n };
}
