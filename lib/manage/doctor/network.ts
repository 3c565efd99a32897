// Checks of what the service talks to: its own public address, the proxy in front, mail, upstreams and webhooks.
import { connect } from 'node:net';
import { type Dispatcher, ProxyAgent, request } from 'undici';
import { createTelegramBot, TelegramFailure } from '../../alerts/telegram-bot.ts';
import { tryTextRoute } from '../../calls/text/trial.ts';
import type { Route } from '../../catalog/model.ts';
import type { Config } from '../../config.ts';
import { readOrigins, readUrl } from '../../media/url.ts';
import type { Store } from '../../store/store.ts';
import { walkRows } from '../../store/walks.ts';
import { checkMailServer } from '../../users/mail.ts';
import { describeError, type Finding, failed, ok, warning } from './check.ts';

const TIMEOUT_MS = 10_000;
const TRIAL_MS = 60_000;
/** More webhooks than these are not tried. */
const WEBHOOKS_MAX = 50;
const SETTINGS_PER_PAGE = 200;

/** What another machine says the time is, and when it said so, in ms since the epoch. */
export type Dates = (readonly [there: number, here: number])[];

interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly ms: number;
}

async function get(url: string, dispatcher?: Dispatcher): Promise<Answered> {
  const startedAt = performance.now();
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  const { statusCode, headers, body } = await request(url, { signal, ...(dispatcher && { dispatcher }) });
  const text = (await body.text()).slice(0, 1000);
  return { status: statusCode, headers, text, ms: Math.round(performance.now() - startedAt) };
}

export async function checkPublicAddress({ publicUrl, trustedProxies }: Config): Promise<readonly Finding[]> {
  const name = 'public address';
  try {
    const { status, text, headers, ms } = await get(`${publicUrl}/healthz`);
    if (status !== 200 || !text.includes('"ok"')) {
      return [
        failed(
          name,
          `${publicUrl}/healthz answers ${status}`,
          'Is the service running, and does the proxy lead to it?',
        ),
      ];
    }
    return [ok(name, `${publicUrl} answers in ${ms} ms`), ...checkProxy(headers, trustedProxies)];
  } catch (error) {
    return [
      failed(name, `${publicUrl}: ${describeError(error)}`, 'Start the service; check PUBLIC_URL, DNS and the proxy.'),
    ];
  }
}

function checkProxy(headers: Answered['headers'], trustedProxies: string): readonly Finding[] {
  const proxy =
    headers.via ?? (/caddy|nginx|cloudflare|envoy|traefik/i.test(String(headers.server)) ? headers.server : undefined);
  if (proxy === undefined || trustedProxies !== '0') return [];
  return [
    warning(
      'proxy headers',
      `a proxy is in front (${proxy}), and TRUSTED_PROXIES names none`,
      'Set TRUSTED_PROXIES, or all clients share one address and its limits.',
    ),
  ];
}

export async function checkMail({ smtpUrl }: Config): Promise<readonly Finding[]> {
  if (smtpUrl === undefined)
    return [
      warning(
        'mail',
        'SMTP_URL is not set',
        'Without it, alerts go only to webhooks and Telegram, and you hand out links yourself.',
      ),
    ];
  try {
    await checkMailServer(smtpUrl);
    return [ok('mail', 'the server accepts our user and password')];
  } catch (error) {
    return [failed('mail', describeError(error), 'Check SMTP_URL.')];
  }
}

/** Nothing if no bot is configured. */
export async function checkTelegram({ telegramToken, telegramApi }: Config): Promise<readonly Finding[]> {
  const name = 'Telegram bot';
  if (telegramToken === undefined) return [];
  const bot = createTelegramBot({ token: telegramToken, api: telegramApi });
  const { signal } = new AbortController();
  try {
    const username = await bot.readName(signal);
    if ((await bot.readWebhook(signal)) === '') return [ok(name, `@${username} accepts our token`)];
    return [
      failed(
        name,
        `@${username} has a webhook, so nobody can link a chat`,
        'Another program uses this bot: make one of your own with BotFather, or remove the webhook.',
      ),
    ];
  } catch (error) {
    const isRefused = error instanceof TelegramFailure && [401, 404].includes(error.status ?? 0);
    const advice = isRefused ? 'Check TELEGRAM_BOT_TOKEN.' : 'Check the network; TELEGRAM_API may name another server.';
    return [failed(name, describeError(error), advice)];
  }
}

interface UpstreamCheck {
  readonly routes: readonly Route[];
  /** Makes a small call by each upstream that answers text; it costs some tokens. */
  readonly calls: boolean;
  /** Takes what upstreams say the time is. */
  readonly dates: Dates;
}

/** One finding for each upstream that has a route. */
export async function checkUpstreams({ routes, calls, dates }: UpstreamCheck): Promise<readonly Finding[]> {
  const byUpstream = Map.groupBy(routes, ({ upstream }) => upstream);
  return Promise.all(
    [...byUpstream].map(async ([upstream, [first, ...others]]) => {
      const name = `upstream ${upstream}`;
      const texts = [first, ...others].filter((route) => route?.provider.text !== undefined);
      const [tried] = texts;
      if (calls && tried) return checkCall(name, tried);
      return first ? checkReach(name, first, dates) : ok(name, 'no route');
    }),
  );
}

async function checkCall(name: string, route: Route): Promise<Finding> {
  const { ms, usage, problem } = await tryTextRoute(route, AbortSignal.timeout(TRIAL_MS));
  if (problem !== undefined) {
    return failed(
      name,
      `${route.model}: ${problem}`,
      'Check its key, its address and the name of the model in the catalog.',
    );
  }
  const tokens = usage ? `, ${usage.input} + ${usage.output} tokens` : ', no usage reported';
  return ok(name, `${route.model} answered in ${ms} ms${tokens}`);
}

export async function checkReach(name: string, { origin, proxy }: Route, dates: Dates): Promise<Finding> {
  if (origin === undefined) return ok(name, 'has no address');
  const dispatcher = proxy === undefined ? undefined : new ProxyAgent(proxy);
  try {
    const { headers, ms } = await get(origin, dispatcher);
    const date = Date.parse(String(headers.date));
    if (Number.isFinite(date)) dates.push([date, Date.now()]);
    return ok(name, `${origin} answers in ${ms} ms; its key was not tried (--calls does)`);
  } catch (error) {
    return failed(name, `${origin}: ${describeError(error)}`, 'Check the network, and `proxy` in its settings.');
  } finally {
    await dispatcher?.close();
  }
}

export async function checkWebhooks({ alerts }: Store, config: Config): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  for await (const { account, webhook } of walkRows(SETTINGS_PER_PAGE, alerts.page, (row) => row.account)) {
    if (webhook) found.push(await checkWebhook(account, webhook.url, config));
    if (found.length >= WEBHOOKS_MAX) break;
  }
  return found;
}

async function checkWebhook(account: string, url: string, { webhookTrustedOrigins }: Config): Promise<Finding> {
  const name = `webhook of ${account}`;
  const target = readUrl(url, { trustedOrigins: readOrigins(webhookTrustedOrigins, 'WEBHOOK_TRUSTED_ORIGINS') });
  if (typeof target === 'string') return failed(name, 'its address is not allowed', 'The owner has to enter another.');
  const { host, port, origin } = target;
  try {
    await reach(host, port);
    return ok(name, `${origin} accepts connections`);
  } catch (error) {
    return warning(name, `${origin}: ${describeError(error)}`, 'Tell the owner: alerts are not delivered there.');
  }
}

function reach(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => socket.destroy(new Error(`no connection in ${TIMEOUT_MS / 1000} s`)));
    socket.once('error', reject);
  });
}
