// Webhooks of payment providers as received, with their outcome; nothing in them is trusted.
import { fault } from '../../base/faults.ts';
import type { PaymentPhase } from '../../money/payment.ts';
import { maskJson } from '../../payments/mask.ts';
import { FOREIGN } from '../../payments/webhooks.ts';
import type { PaymentWebhook } from '../../store/ports/payments.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { definitionList, form, message, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords, findWord, type Language } from '../language.ts';
import { page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { paymentWords } from '../wallet/payment-words.ts';

const WORDS = defineWords({
  en: {
    title: 'Payment webhooks',
    one: 'Webhook',
    time: 'Received',
    provider: 'Payment provider',
    verdict: 'Result',
    verdicts: {
      received: 'being processed',
      done: 'processed',
      rejected: 'rejected: not from this provider',
      foreign: 'about payments of another service',
      failed: 'failed: the provider will send it again',
    },
    detail: 'Details',
    foreign: 'not of this service',
    address: 'IP address',
    webhook: 'Webhook',
    headers: 'Headers',
    body: 'Body',
    none: 'No webhooks yet.',
    older: 'Older webhooks',
    ours: 'Only about our payments',
    all: 'All webhooks',
    cut: 'It concerns none of our payments, so only its beginning is kept.',
    retry: 'Process again',
    retryText: 'The provider is asked about its payments once more. Nothing is credited twice.',
    ends: {
      done: 'The webhook was processed again.',
      again: 'It failed again: see the latest webhook.',
      rejected: 'This webhook is not from this provider.',
      gone: 'This provider is not configured.',
    },
  },
  ru: {
    title: 'Вебхуки платёжных систем',
    one: 'Вебхук',
    time: 'Получен',
    provider: 'Платёжная система',
    verdict: 'Результат',
    verdicts: {
      received: 'обрабатывается',
      done: 'обработан',
      rejected: 'отклонён: не от этой платёжной системы',
      foreign: 'о платежах другого сервиса',
      failed: 'сбой: его пришлют снова',
    },
    detail: 'Подробности',
    foreign: 'не этого сервиса',
    address: 'IP-адрес',
    webhook: 'Вебхук',
    headers: 'Заголовки',
    body: 'Тело',
    none: 'Вебхуков пока нет.',
    older: 'Более ранние вебхуки',
    ours: 'Только о наших платежах',
    all: 'Все вебхуки',
    cut: 'Вебхук не относится к нашим платежам, поэтому сохранено только его начало.',
    retry: 'Обработать снова',
    retryText: 'Платежи будут ещё раз запрошены у платёжной системы. Дважды ничего не зачислится.',
    ends: {
      done: 'Вебхук обработан снова.',
      again: 'Снова сбой: см. последний вебхук.',
      rejected: 'Этот вебхук не от этой платёжной системы.',
      gone: 'Эта платёжная система не подключена.',
    },
  },
});

const PER_PAGE = 50;

export const adminWebhooks = page({
  path: '/admin/notices',
  who: 'operator',
  async get({ services, query, language, format }) {
    const words = WORDS[language];
    const [before] = /^ntc_\w{1,60}$/.exec(query.get('before') ?? '') ?? [];
    const { payments } = services.store;
    const isOurs = query.get('only') === 'ours';
    const found = await payments.webhooks({ limit: PER_PAGE, before, isDiscarded: isOurs ? false : undefined });
    const titles = [words.time, words.webhook, words.provider, words.verdict, words.detail, words.address];
    const rows = found.map(({ id, at, provider, verdict, detail, address }) => [
      format.time(at),
      html`<a href="/admin/notices/${id}"><code>…${id.slice(-8)}</code></a>`,
      provider,
      verdictName(language, verdict),
      renderOutcome(language, detail),
      address,
    ]);
    const last = found.length === PER_PAGE ? found.at(-1) : undefined;
    const older = last && `/admin/notices?${isOurs ? 'only=ours&' : ''}before=${last.id}`;
    const columns = titles.map((title) => ({ title }));
    const done = findWord(words.ends, query.get('done'));
    const body = html`${done !== undefined && message(query.get('done') === 'done' ? 'done' : 'error', done)}
<p><a href="/admin/notices${isOurs ? '' : '?only=ours'}">${isOurs ? words.all : words.ours}</a></p>
${rows.length === 0 ? html`<p>${words.none}</p>` : table(words.title, columns, rows)}
${older !== undefined && html`<p><a href="${older}" rel="next">${words.older}</a></p>`}`;
    return { title: words.title, body };
  },
});

export const adminWebhook = page({
  path: '/admin/notices/{id}',
  who: 'operator',
  async get(visit) {
    const { language, format } = visit;
    const words = WORDS[language];
    const webhook = await findRequestedWebhook(visit);
    const { id, at, provider, verdict, detail, address, headers, body: raw } = webhook;
    const rest = html`<h2>${words.headers}</h2><pre tabindex="0"><code>${maskJson(headers)}</code></pre>
<h2>${words.retry}</h2><p>${words.retryText}</p>
${form(visit, { action: `/admin/notices/${id}`, fields: codeField(visit), button: words.retry })}`;
    const body = html`${definitionList([
      [words.webhook, html`<code>${id}</code>`],
      [words.time, format.time(at)],
      [words.provider, provider],
      [words.verdict, verdictName(language, verdict)],
      [words.detail, detail === '' ? '—' : renderOutcome(language, detail)],
      [words.address, address],
    ])}
<h2>${words.body}</h2><pre tabindex="0"><code>${maskJson(raw)}</code></pre>
${isCut(webhook) ? html`<p>${words.cut}</p>` : rest}
<p><a href="/admin/notices">${words.all}</a></p>`;
    return { title: words.one, body };
  },
  /** Handles it as if it had just arrived. */
  async post(visit) {
    const webhook = await findRequestedWebhook(visit);
    if (isCut(webhook)) throw fault('not_found');
    const { id, provider, headers, body, address } = webhook;
    const raw = { headers: JSON.parse(headers), body, address };
    const end = (await visit.services.payments.handleWebhook(provider, raw)) ?? 'gone';
    await audit(visit, { action: 'notice.retry', target: id, detail: { end } });
    return { to: `/admin/notices?done=${end}` };
  },
});

/** Of webhooks without effect only the beginning is stored. */
function isCut({ headers }: PaymentWebhook): boolean {
  return headers === '';
}

async function findRequestedWebhook({ services, request }: UserVisit): Promise<PaymentWebhook> {
  const webhook = await services.store.payments.webhook(String(request.params.id));
  if (!webhook) throw fault('not_found');
  return webhook;
}

/** `pay_… credited, not of this service`: each payment as a link, with its state in words. */
function renderOutcome(language: Language, detail: string): Html {
  const { phases } = paymentWords(language);
  const parts = detail.split(', ').map((part, at) => {
    const [, id = '', phase = ''] = /^(pay_\w+) (\w+)$/.exec(part) ?? [];
    const text = part === FOREIGN ? WORDS[language].foreign : part;
    const link = html`<a href="/admin/payments/${id}"><code title="${id}">…${id.slice(-8)}</code></a>`;
    return html`${at > 0 && ', '}${id === '' ? text : html`${link} ${phases[phase as PaymentPhase] ?? phase}`}`;
  });
  return html`${parts}`;
}

function verdictName(language: Language, verdict: PaymentWebhook['verdict']): string {
  return (WORDS[language].verdicts as Readonly<Record<string, string>>)[verdict] ?? verdict;
}
