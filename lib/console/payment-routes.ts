// Routes for payment providers: their webhooks, and the payment pages of test providers.
import type { Request, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import type { LimitRule } from '../accounts/rate-limiter.ts';
import { fault } from '../base/faults.ts';
import { toClientNetwork } from '../base/network.ts';
import { readBody } from '../http/body.ts';
import { findClientAddress } from '../http/client-address.ts';
import { isSender } from '../payments/webhooks.ts';
import { StoreError } from '../store/store.ts';
import type { RawNotice } from '../upstream/contract/payment.ts';
import { choosePageStyle } from './response-style.ts';
import type { ConsoleServices } from './services.ts';

const WEBHOOK_BYTES_MAX = 8 * 1024;
const FORM_BYTES_MAX = 64 * 1024;
/** Providers send few; this stops forgers early. */
const WEBHOOKS_PER_ADDRESS = { name: 'notices', perMinute: 300 };
/** From all addresses; a provider's known senders are counted apart from others. */
const WEBHOOKS_PER_PROVIDER = { name: 'all-notices', perMinute: 600 };
const PAGE_MS = 30_000;

export function paymentRoutes(services: ConsoleServices): readonly ServerRoute[] {
  const shared = {
    auth: false,
    payload: { parse: false, output: 'stream' },
    plugins: { style: choosePageStyle(services) },
  } as const;
  const { payload: _, ...plain } = shared;
  const path = '/payments/{provider}/page/{path*}';
  return [
    {
      method: 'POST',
      path: '/payments/{provider}/notice',
      options: shared,
      handler: (request, h) => answerWebhook(request, h, services),
    },
    { method: 'GET', path, options: plain, handler: (request, h) => answerPage(request, h, services) },
    { method: 'POST', path, options: shared, handler: (request, h) => answerPage(request, h, services) },
  ];
}

/** Providers send it again after any status but 200. */
async function answerWebhook(request: Request, h: ResponseToolkit, services: ConsoleServices) {
  const address = findClientAddress(request);
  await countWebhook(services, WEBHOOKS_PER_ADDRESS, toClientNetwork(address));
  const name = String(request.params.provider);
  const open = services.payments.providers().find((one) => one.name === name);
  if (!open) throw fault('not_found');
  await countWebhook(services, WEBHOOKS_PER_PROVIDER, isSender(open.provider, address) ? `${name}:senders` : name);
  const body = await readBodyText(request, services, WEBHOOK_BYTES_MAX);
  const end = await services.payments
    .handleWebhook(name, { headers: request.raw.req.headers, body, address })
    .catch(rethrowAsUnavailable);
  switch (end) {
    case undefined:
      throw fault('not_found');
    case 'rejected':
      return h.response('rejected').type('text/plain').code(400);
    case 'again':
      return h.response('not yet').type('text/plain').code(503);
    case 'done':
      return h.response(open.provider.noticeReply ?? 'ok').type('text/plain');
  }
}

async function countWebhook({ limiter }: ConsoleServices, rule: LimitRule, key: string): Promise<void> {
  const { allowed, retryAfterS } = await limiter.hit(rule, key);
  if (!allowed) throw fault('rate_limited', { retryAfterS });
}

function rethrowAsUnavailable(error: unknown): never {
  throw error instanceof StoreError ? fault('store_unavailable', {}, error) : error;
}

async function answerPage(request: Request, h: ResponseToolkit, services: ConsoleServices) {
  const name = String(request.params.provider);
  const { payments } = services;
  const provider = payments.providers().find((open) => open.name === name)?.provider;
  // Only test providers have their payment pages here.
  if (!provider?.page || provider.live) throw fault('not_found');
  const method = request.method === 'post' ? 'POST' : 'GET';
  const form = method === 'POST' ? new URLSearchParams(await readBodyText(request, services, FORM_BYTES_MAX)) : [];
  const url = new URL(request.raw.req.url ?? '/', 'http://page');
  const pageRequest = {
    method,
    path: `/${request.params.path ?? ''}`,
    query: Object.fromEntries(url.searchParams),
  } as const;
  const reply = await provider.page({ ...pageRequest, form: Object.fromEntries(form) }, AbortSignal.timeout(PAGE_MS));
  for (const webhook of reply.notices ?? [])
    await processOwnWebhook(services, name, { ...webhook, address: '127.0.0.1' });
  if (reply.location !== undefined) return h.response().code(303).header('location', reply.location);
  return h.response(reply.html).type('text/html; charset=utf-8').code(reply.status);
}

/** Like over the network, a webhook that fails does not fail its sender. */
async function processOwnWebhook({ payments, log }: ConsoleServices, name: string, raw: RawNotice): Promise<void> {
  await payments
    .handleWebhook(name, raw)
    .catch((err: unknown) => log.warn({ err, provider: name }, 'could not process a webhook'));
}

async function readBodyText(
  request: Request,
  { calls, memoryQuota }: ConsoleServices,
  bytesMax: number,
): Promise<string> {
  const call = calls.open(request);
  const share = memoryQuota.reserve(`address:${toClientNetwork(findClientAddress(request))}`);
  try {
    const bytes = await readBody(request.raw.req, { signal: call.signal, reservation: share, limits: { bytesMax } });
    return bytes.toString('utf8');
  } finally {
    share.releaseAll();
    call.close();
  }
}
