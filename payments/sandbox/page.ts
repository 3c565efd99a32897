// The sandbox's pay page and the effects of its buttons. Works without scripts.
import type { PageReply, PageRequest } from '../../lib/upstream/contract/payment.ts';
import { CARDS, DECLINES, toSandboxMethod } from './cards.ts';
import type { Entry, Till } from './till.ts';
import { type Language, WORDS } from './words.ts';

/** Buttons that pay, and how many webhooks they send. */
const PAY_BUTTONS = [
  { name: 'paid', kind: 'paid', notices: 1 },
  { name: 'late', kind: 'late', notices: 0 },
  { name: 'twice', kind: 'paid', notices: 2 },
  { name: 'silent', kind: 'paid', notices: 0 },
  { name: 'wrong-sum', kind: 'wrong-sum', notices: 1 },
  { name: 'wrong-currency', kind: 'wrong-currency', notices: 1 },
] as const;
const AFTER_BUTTONS = ['refund', 'half', 'dispute'] as const;

export function createPage(till: Till) {
  return async ({ method, path, query, form }: PageRequest): Promise<PageReply> => {
    const id = path.slice(1);
    const entry = await till.readEntry(id);
    const language = chooseLanguage(query.lang, entry);
    if (!entry) return { status: 404, html: renderDocument(language, `<p>${WORDS[language].missing}</p>`) };
    if (method === 'GET') return { status: 200, html: renderDocument(language, renderPayment(entry, language, till)) };
    return pressButton(entry, form, till);
  };
}

async function pressButton(
  entry: Entry,
  { button = '', card = 'good' }: PageRequest['form'],
  till: Till,
): Promise<PageReply> {
  const { id, returnUrl } = entry;
  const buildWebhooks = (times: number) =>
    Array.from({ length: times }, () => ({ headers: {}, body: `{"payment":"${id}"}` }));
  const pay = PAY_BUTTONS.find(({ name }) => name === button);
  if (pay) {
    const chosen = CARDS.get(card);
    await till.decide(id, { kind: pay.kind }, chosen && toSandboxMethod(chosen, `${chosen.name}-${id}`));
    return { status: 303, location: returnUrl, notices: buildWebhooks(pay.notices) };
  }
  if (Object.hasOwn(DECLINES, button)) {
    await till.decide(id, { kind: 'declined', code: button });
    return { status: 303, location: returnUrl, notices: buildWebhooks(1) };
  }
  if (button === 'dispute') await till.dispute(id);
  const part = button === 'refund' ? 1n : button === 'half' ? 2n : 0n;
  const left = till.unrefundedSum(entry);
  const sum = part && (left / part / 10_000n) * 10_000n;
  const isRefund = sum > 0n && till.currentStatus(entry) === 'succeeded';
  if (isRefund) await till.refundHere(id, sum);
  return { status: 303, location: `./${id}`, notices: buildWebhooks(isRefund ? 1 : 0) };
}

function renderPayment(entry: Entry, language: Language, till: Till): string {
  const words = WORDS[language];
  const status = till.currentStatus(entry);
  const left = till.unrefundedSum(entry);
  const facts = [
    [words.sum, formatRoubles(language, BigInt(entry.amount))],
    [words.order, `${entry.order}: ${entry.description}`],
    [words.state, words[status]],
    ...(entry.refunds.length > 0 ? [[words.left, formatRoubles(language, left)]] : []),
  ].map(([name = '', value = '']) => `<div><dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd></div>`);
  const isOpen = status === 'pending' && !entry.decision;
  const command = `<code>tollgate payment dispute ${escapeHtml(entry.order)} --open SANDBOX-1</code>`;
  return `<p>${words.note}</p>
<dl class="facts">${facts.join('')}</dl>
${entry.disputed ? `<p class="message error" role="status">${words.disputed} ${command}</p>` : ''}
${isOpen ? renderPayForm(entry, language) : ''}
${status === 'succeeded' && left > 0n ? renderAfterForm(language) : ''}
<p><a href="${escapeHtml(entry.returnUrl)}">${words.back}</a></p>`;
}

function renderPayForm({ save }: Entry, language: Language): string {
  const words = WORDS[language];
  const cards = [...CARDS.values()].map(
    ({ name, last4 }) =>
      `<p><label><input type="radio" name="card" value="${name}"${name === 'good' ? ' checked' : ''}> •••• ${last4} — ${words[name]}</label></p>`,
  );
  const pays = PAY_BUTTONS.map(({ name }) => renderButton(name, words[name]));
  const declines = Object.keys(DECLINES).map((code) => renderButton(code, `${words.decline}: ${code}`, true));
  return `<form method="post"><fieldset><legend>${words.card}</legend>${save ? `<p>${words.kept}</p>` : ''}${cards.join('')}</fieldset>
<h2>${words.pay}</h2><p class="buttons">${pays.join(' ')}</p><h2>${words.decline}</h2><p class="buttons">${declines.join(' ')}</p></form>`;
}

function renderAfterForm(language: Language): string {
  const words = WORDS[language];
  const buttons = AFTER_BUTTONS.map((name) => renderButton(name, words[name], true));
  return `<form method="post"><h2>${words.after}</h2><p class="buttons">${buttons.join(' ')}</p></form>`;
}

function renderButton(value: string, label: string, danger = false): string {
  return `<button name="button" value="${value}"${danger ? ' class="danger"' : ''}>${label}</button>`;
}

function renderDocument(language: Language, body: string): string {
  const words = WORDS[language];
  return `<!doctype html>
<html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>${words.title}</title>
<link rel="stylesheet" href="/static/style.css"><link rel="icon" href="/static/icon.svg" type="image/svg+xml"></head>
<body><header><span class="brand">${words.title}</span>
<span class="languages" role="group" aria-label="${words.language}"><a href="?lang=en" lang="en" hreflang="en">English</a> <a href="?lang=ru" lang="ru" hreflang="ru">Русский</a></span></header>
<main><h1>${words.title}</h1>
${body}
</main></body></html>
`;
}

function chooseLanguage(chosen: string | undefined, entry: Entry | undefined): Language {
  return chosen === 'ru' || chosen === 'en' ? chosen : (entry?.locale ?? 'en');
}

/** As the pages of the wallet write it. */
function formatRoubles(language: Language, micro: bigint): string {
  const style = { style: 'currency', currency: 'RUB', currencyDisplay: 'narrowSymbol' } as const;
  return new Intl.NumberFormat(language === 'en' ? 'en-GB' : 'ru-RU', style).format(Number(micro / 10_000n) / 100);
}

function escapeHtml(plain: string): string {
  return plain.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
