// The ledger for an operator: whether it adds up, and the money of one call.
import { readChargeId } from '../../calls/charge-id.ts';
import { auditLedger } from '../../ledger/last-audit.ts';
import { attemptJson } from '../../manage/actions/attempt.ts';
import { callJson } from '../../manage/actions/charge.ts';
import type { Attempt } from '../../money/attempt.ts';
import type { Charge, Entry } from '../../money/decide.ts';
import type { Account } from '../../store/ports/accounts.ts';
import type { KeyRow } from '../../store/ports/keys.ts';
import { keyName } from '../charge-query.ts';
import { codeField } from '../code-field.ts';
import { factLines, field, form, message, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Page, page } from '../page.ts';
import type { UserVisit } from '../visit.ts';
import { attemptSection } from './attempt-table.ts';
import { foldedJson } from './call.ts';
import { priceCalculation } from './call-price.ts';
import { chargeWords, describeState } from './charge-table.ts';
import { entriesTitle, entryTable } from './entry-table.ts';

const WORDS = defineWords({
  en: {
    title: 'Ledger',
    find: 'Find a call',
    id: 'Request ID or video ID',
    search: 'Find',
    none: 'No charge has this ID. Requests refused before they start (400, 401, 402, 403, 429) are not listed.',
    verify: 'Verify the ledger',
    verifyText: 'Checks every entry of every wallet. On a large store this takes minutes.',
    ok: (entries: string, wallets: string) => `Everything adds up. Entries: ${entries}; wallets: ${wallets}.`,
    bad: (count: string, drift: string) => `Problems: ${count}; drift: ${drift}.`,
    wallet: 'Account',
    problem: 'Problem',
    state: 'Status',
    kind: 'Type',
    model: 'Model',
    held: 'Held',
    charged: 'Charged',
    call: 'Call',
    time: 'Time',
    key: 'Key',
    giveBack:
      'A charge is never changed. To return the money, correct the balance on the page of the account, with the request ID as the reason.',
  },
  ru: {
    title: 'Операции',
    find: 'Найти запрос',
    id: 'ID запроса или видео',
    search: 'Найти',
    none: 'Списания с таким ID нет. Запросы, отклонённые до начала (400, 401, 402, 403, 429), сюда не попадают.',
    verify: 'Сверить операции',
    verifyText: 'Проверяются все операции всех кошельков. В большой базе это занимает несколько минут.',
    ok: (entries: string, wallets: string) => `Всё сходится: операций ${entries}, кошельков ${wallets}.`,
    bad: (count: string, drift: string) => `Расхождений: ${count}, на сумму ${drift}.`,
    wallet: 'Аккаунт',
    problem: 'Расхождение',
    state: 'Статус',
    kind: 'Тип',
    model: 'Модель',
    held: 'Зарезервировано',
    charged: 'Списано',
    call: 'Запрос',
    time: 'Время',
    key: 'Ключ',
    giveBack:
      'Само списание изменить нельзя. Чтобы вернуть деньги, сделайте корректировку баланса на странице аккаунта и укажите ID запроса как причину.',
  },
});

const ID_LENGTH_MAX = 200;

export const adminLedger = page({
  path: '/admin/ledger',
  who: 'operator',
  async get(visit) {
    const id = readChargeId(visit.query.get('id')?.slice(0, ID_LENGTH_MAX) ?? '');
    if (!id) return ledgerPage(visit, undefined);
    const { ledger, attempts, accounts, keys } = visit.services.store;
    const charge = await ledger.charge(id);
    if (!charge) return { ...ledgerPage(visit, message('error', WORDS[visit.language].none)), status: 404 };
    const [entries, made, account, key] = await Promise.all([
      ledger.listChargeEntries(id),
      attempts.list([id]),
      accounts.get(charge.wallet),
      keys.get(charge.key),
    ]);
    return ledgerPage(visit, chargeDetails(visit, charge, { entries, attempts: made, account, key }));
  },
  async post(visit) {
    const words = WORDS[visit.language];
    const { format } = visit;
    const report = await auditLedger(visit.services.store);
    if (report.ok) {
      const text = words.ok(format.number(report.entries), format.number(report.wallets));
      return ledgerPage(visit, message('done', text));
    }
    const count = format.number(report.problems.length + report.more);
    const rows = report.problems.map(({ wallet, problem }) => [html`<code>${wallet}</code>`, problem]);
    const found = html`${message('error', words.bad(count, format.rubExact(report.drift)))}
${table(words.verify, [{ title: words.wallet }, { title: words.problem }], rows)}`;
    return ledgerPage(visit, found);
  },
});

function ledgerPage(visit: UserVisit, found: Html | undefined): Page {
  const words = WORDS[visit.language];
  const value = visit.query.get('id') ?? undefined;
  const body = html`${found}
<h2>${words.find}</h2>
<form method="get" action="/admin/ledger">${field({ name: 'id', label: words.id, type: 'search', value })}
<p><button>${words.search}</button></p></form>
<h2>${words.verify}</h2>
<p>${words.verifyText}</p>
${form(visit, { action: '/admin/ledger', fields: codeField(visit), button: words.verify })}`;
  return { title: words.title, body };
}

interface ChargeRows {
  readonly entries: readonly Entry[];
  readonly attempts: readonly Attempt[];
  readonly account: Account | undefined;
  /** Services of the operator hold money without one. */
  readonly key: KeyRow | undefined;
}

function chargeDetails(visit: UserVisit, charge: Charge, { entries, attempts, account, key }: ChargeRows): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  const { kinds } = chargeWords({ language });
  return html`${factLines([
    [words.call, html`<code>${charge.id}</code>`],
    [words.time, format.time(charge.createdAt)],
    [words.wallet, html`<a href="/admin/accounts/${charge.wallet}">${account?.name ?? charge.wallet}</a>`],
    [words.key, key ? keyName(key) : html`<code>${charge.key}</code>`],
    [words.state, describeState({ language }, charge)],
    [words.kind, kinds[charge.kind]],
    [words.model, charge.model],
    [words.held, format.rubExact(charge.reserved)],
    [words.charged, format.rubExact(charge.charged)],
  ])}
${attemptSection(visit, charge, attempts)}
<h2>${entriesTitle(visit)}</h2>
${entryTable(visit, entries)}
${priceCalculation(visit, charge)}
${charge.state === 'settled' && charge.charged > 0n && html`<p class="hint">${words.giveBack}</p>`}
${foldedJson({ ...callJson(charge, entries), attempts: attempts.map(attemptJson) })}`;
}
