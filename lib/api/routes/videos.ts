// POST /api/v1/videos starts a video, GET /api/v1/videos?id= polls it; any process can answer both.

import type { Lifecycle, Request, ServerRoute } from '@hapi/hapi';
import { fault } from '../../base/faults.ts';
import type { VideoStarted } from '../../calls/videos/engine.ts';
import type { VideoRequest } from '../../calls/videos/request.ts';
import { computeVideoTerms, type VideoTerms } from '../../calls/videos/terms.ts';
import { describeVideo, findVideo } from '../../calls/videos/view.ts';
import { chooseCatalog } from '../../catalog/catalog.ts';
import { findModel, refuseModel } from '../../catalog/lookup.ts';
import type { VideoModel } from '../../catalog/model.ts';
import { getRequestState } from '../../http/request-state.ts';
import { releaseImages, toProviderImage } from '../../media/reference.ts';
import { toRub } from '../../money/money.ts';
import { confirmHolder, getKeyHolder } from '../auth.ts';
import { admitBody, refuseTooExpensive } from '../balance-check.ts';
import { createCallContext } from '../call-context.ts';
import { invalidField } from '../dialects/fields.ts';
import { answerJson, type PaidRequest, paidRoute } from '../paid-route.ts';
import { fetchLinkedImages, readPromptBody } from '../prompt-body.ts';
import type { Services } from '../services.ts';

const PATH = '/api/v1/videos';

export function videoRoutes(services: Services): readonly ServerRoute[] {
  const { limits } = services;
  const options = { plugins: { limit: limits.videos } };
  return [
    paidRoute(PATH, services, start),
    { method: 'GET', path: PATH, options, handler: (request) => pollVideo(request, services) },
  ];
}

async function start(paid: PaidRequest): Promise<Lifecycle.ReturnValueTypes> {
  const { services } = paid;
  const videoRequest = await readPromptBody(paid, {
    format: 'video',
    admit: (bytes) => admitBody(paid, bytes),
    inspectHead: async (head) => void (await findPayableModel(paid, head)),
  });
  let { images } = videoRequest;
  try {
    const { model, terms } = await findPayableModel(paid, videoRequest);
    images = await fetchLinkedImages(paid, videoRequest);
    const holder = await confirmHolder(paid, services.holders);
    refuseModel(holder.limits, model);
    const [image] = images.map(toProviderImage);
    const idempotency = paid.idempotency?.terms({ awaited: true });
    const context = { ...createCallContext({ ...paid, holder }, videoRequest.spending), idempotency };
    const started = await services.videos.start({ model, terms, prompt: videoRequest.prompt, image }, context);
    return answerJson(paid, describeStart(model, terms, started));
  } finally {
    releaseImages(images);
  }
}

/** The requested model with its terms, which the wallet can pay for now. */
async function findPayableModel(paid: PaidRequest, videoRequest: VideoRequest) {
  const model = findModel(chooseCatalog(paid.services.catalog(), paid.holder), videoRequest.model, 'video');
  refuseModel(paid.holder.limits, model);
  if (model.routes.length === 0) throw fault('video_unavailable');
  paid.state.notes.model = model.id;
  const terms = computeVideoTerms(model, videoRequest);
  await refuseTooExpensive(paid, { kind: 'video', amount: terms.price.amount });
  return { model, terms };
}

function describeStart(model: VideoModel, terms: VideoTerms, { id, paid, size }: VideoStarted): object {
  const { price, asked, resolution } = terms;
  const { seconds } = asked;
  const charged = { price: toRub(paid.charge.charged), balance: toRub(paid.wallet.avail) };
  return {
    id,
    object: 'video',
    model: model.id,
    status: 'queued',
    seconds,
    price_rub: charged.price,
    balance_rub: charged.balance,
    size: `${size.width}x${size.height}`,
    resolution,
    billing: {
      charged_rub: charged.price,
      balance_rub: charged.balance,
      unit: price.unit,
      unit_price_rub: toRub(price.unitPrice),
      price_option: price.option,
    },
    poll: `${PATH}?id=${id}`,
  };
}

/** Reads the state from the store; the job may run in another process. */
async function pollVideo(request: Request, { store, results }: Pick<Services, 'store' | 'results'>): Promise<object> {
  const ids = request.url.searchParams.getAll('id');
  const [id = ''] = ids;
  if (ids.length !== 1 || id === '') throw invalidField('id', 'name one video: /api/v1/videos?id=vid_...');
  const job = await findVideo(store, { id, account: getKeyHolder(request).account });
  getRequestState(request).notes.job = id;
  return describeVideo(job, results);
}
