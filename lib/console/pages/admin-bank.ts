// Bank statements for an operator: import one, look at what its payments are for, and credit them.
import { fault } from '../../base/faults.ts';
import { KOPECK } from '../../money/money.ts';

import {
  type BankPayment,
  findBankPayment,
  keepBankPayments,
  listIncoming,
  readBankPaymentRow,
} from '../../payments/papers/bank-payments.ts';
import { parseBankStatement, StatementError } from '../../payments/papers/bank-statement.ts';
import {
  type CreditResult,
  type CreditTarget,
  creditBankPayment,
  creditCertainPayment,
  dismissBankPayment,
  reopenBankPayment,
} from '../../payments/papers/crediting.ts';
import { readSeller } from '../../payments/papers/details.ts';
import { findInvoice, type Invoice, readInvoiceRow } from '../../payments/papers/invoices.ts';
import { doubtRepeated, matchBankPayment } from '../../payments/papers/matching.ts';
import type { PaperRow } from '../../store/ports/papers.ts';
import { audit, buildAuditLine } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { fileField, message } from '../components.ts';
import type { Form, Refused } from '../forms.ts';
import { type Html, html } from '../html.ts';
import { type Answer, type Page, page } from '../page.ts';
import {
  BANK_PATH,
  type CreditedPayment,
  certainSection,
  creditedTable,
  dismissedSection,
  type MatchedPayment,
  unsureSection,
} from '../papers/bank-tables.ts';
import { BANK_WORDS } from '../papers/bank-words.ts';
import { refusalMessage } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { readBefore } from './papers.ts';

const FILE = 'statement';
const PER_PAGE = 50;
const LAST_SHOWN = 20;

export const adminBank = page({
  path: BANK_PATH,
  who: 'operator',
  imageField: FILE,
  get: (visit) => bankPage(visit),
  async post(visit, sent) {
    switch (sent.has('change') ? sent.text('change') : '') {
      case 'import':
        return importByForm(visit, sent);
      case 'credit_certain':
        return creditCertain(visit, sent.all('payment').slice(0, PER_PAGE));
      case 'decide':
        return decideByForm(visit, sent);
      case 'reopen':
        return reopenByForm(visit, sent);
      default:
        throw fault('stale_form');
    }
  },
});

async function refuse(visit: UserVisit, refusal: Refused, status = 400): Promise<Answer> {
  return { ...(await bankPage({ ...visit, refused: refusal })), status };
}

async function importByForm(visit: UserVisit, sent: Form): Promise<Answer> {
  const { services, language } = visit;
  const words = BANK_WORDS[language];
  const seller = await readSeller(services.store);
  if (!seller) return refuse(visit, { sent, text: words.off });
  const [file] = sent.files;
  if (!file) return refuse(visit, { sent, text: words.noFile });
  let incoming: ReturnType<typeof listIncoming>;
  try {
    incoming = listIncoming(parseBankStatement(file.bytes), seller.account);
  } catch (error) {
    if (!(error instanceof StatementError)) throw error;
    const { problem, line, field } = error;
    return refuse(visit, { sent, text: words.problems[problem]({ line: `${line ?? ''}`, field: field ?? '' }) });
  }
  if (incoming.length === 0) return refuse(visit, { sent, text: words.nothing });
  const { added, known } = await keepBankPayments(services.store, incoming, services.now());
  await audit(visit, { action: 'bank.import', target: (file.fileName ?? '').slice(0, 200), detail: { added, known } });
  return { to: `${BANK_PATH}?done=imported&added=${added}&known=${known}` };
}

/** Writes the line of the audit log that belongs to a credit. */
function recordCredit(visit: UserVisit) {
  return ({ id, account, kopecks }: BankPayment, invoice: Invoice | undefined) => {
    const detail = { rub_micro: `${kopecks * KOPECK}`, ...(invoice && { number: invoice.number }) };
    return audit(visit, { action: 'bank.credit', target: id, detail, ...(account !== null && { account }) });
  };
}

async function creditCertain(visit: UserVisit, ids: readonly string[]): Promise<Answer> {
  const { services } = visit;
  const options = { at: services.now(), record: recordCredit(visit) };
  const results: CreditResult[] = [];
  for (const id of ids) results.push(await creditCertainPayment(services.store, id, options));
  const count = results.filter(({ status }) => status === 'credited').length;
  const left = results.filter(({ status }) => status !== 'credited' && status !== 'known').length;
  return { to: `${BANK_PATH}?done=credited&count=${count}&left=${left}` };
}

async function decideByForm(visit: UserVisit, sent: Form): Promise<Answer> {
  const { services, language } = visit;
  const words = BANK_WORDS[language];
  const payment = await findBankPayment(services.store, sent.text('payment'));
  if (!payment) throw fault('not_found');
  if (sent.text('step') === 'dismiss') {
    const line = buildAuditLine(visit, { action: 'bank.dismiss', target: payment.id });
    if (!(await dismissBankPayment(services.store, payment, line)))
      return refuse(visit, { sent, text: words.refusals.stale }, 409);
    return { to: `${BANK_PATH}?done=dismissed` };
  }
  const target = await readTarget(visit, sent.text('target'));
  if (!target) return refuse(visit, { sent, text: words.refusals.unknown_target, field: 'target' });
  const options = { at: services.now(), record: recordCredit(visit), target };
  const result = await creditBankPayment(services.store, payment.id, options);
  switch (result.status) {
    case 'credited':
    case 'known':
      return { to: `${BANK_PATH}?done=credited&count=1&left=0` };
    case 'refused': {
      const text = words.refusals.refused(words.refusals.ledger[result.refusal] ?? result.refusal);
      return refuse(visit, { sent, text });
    }
    case 'unknown_target':
      return refuse(visit, { sent, text: words.refusals.unknown_target, field: 'target' });
    default:
      return refuse(visit, { sent, text: words.refusals[result.status] }, result.status === 'stale' ? 409 : 400);
  }
}

async function reopenByForm(visit: UserVisit, sent: Form): Promise<Answer> {
  const { store } = visit.services;
  const payment = await findBankPayment(store, sent.text('payment'));
  if (!payment) throw fault('not_found');
  const line = buildAuditLine(visit, { action: 'bank.reopen', target: payment.id });
  if (!(await reopenBankPayment(store, payment, line)))
    return refuse(visit, { sent, text: BANK_WORDS[visit.language].refusals.stale }, 409);
  return { to: `${BANK_PATH}?done=reopened` };
}

/** A number is that of an invoice; anything else the id of an account. */
async function readTarget({ services }: UserVisit, text: string): Promise<CreditTarget | undefined> {
  const number = /^(?:№\s*)?(\d{1,9})$/.exec(text)?.[1];
  if (number === undefined) return text === '' ? undefined : { account: text };
  const row = await services.store.papers.find('invoice', Number(number));
  return row && { invoice: row.id };
}

const COUNTED_MAX = 100;

/** Those that wait to be credited, counted up to a hundred. */
export async function countBankPayments({ services, format }: UserVisit): Promise<string> {
  const list = { kind: 'payment', limit: COUNTED_MAX } as const;
  const states = ['open', 'claimed'].map((state) => services.store.papers.list({ ...list, state }));
  const count = (await Promise.all(states)).flat().length;
  return count < COUNTED_MAX ? format.number(count) : `${format.number(COUNTED_MAX)}+`;
}

async function bankPage(visit: UserVisit): Promise<Page> {
  const { services, language, query } = visit;
  const words = BANK_WORDS[language];
  const { papers } = services.store;
  const seller = await readSeller(services.store);
  if (!seller) return { title: words.title, body: html`<p><a href="/admin/papers">${words.off}</a></p>` };
  const before = readBefore(query.get('before'));
  const open = { kind: 'payment', state: 'open', limit: PER_PAGE } as const;
  const [begun, rows, last, dismissed] = await Promise.all([
    papers.list({ ...open, state: 'claimed' }),
    papers.list({ ...open, ...(before && { before }) }),
    papers.list({ ...open, state: 'credited', limit: LAST_SHOWN }),
    papers.list({ ...open, state: 'dismissed', limit: LAST_SHOWN }),
  ]);
  const unfinished = await Promise.all(begun.map((row) => readBegun(visit, readBankPaymentRow(row))));
  const matched = await matchRows(visit, rows);
  const certain = [...unfinished, ...matched.filter(({ match }) => match?.status === 'certain')].slice(0, PER_PAGE);
  const unsure = matched.filter(({ match }) => match?.status === 'unsure');
  const more = rows.length === PER_PAGE ? rows.at(-1) : undefined;
  const body = html`${refusalMessage(visit)}
${doneMessage(visit)}
<h2>${words.upload}</h2>
${uploadForm(visit)}
<h2>${words.certain}</h2>
${certainSection(visit, certain)}
<h2>${words.unsure}</h2>
${unsureSection(visit, unsure)}
${more && html`<p><a href="${BANK_PATH}?before=${encodeURIComponent(`${more.at}-${more.id}`)}" rel="next">${words.more}</a></p>`}
${last.length > 0 && html`<h2>${words.credited}</h2>${creditedTable(visit, await Promise.all(last.map((row) => readCredited(visit, readBankPaymentRow(row)))))}`}
${dismissed.length > 0 && dismissedSection(visit, dismissed.map(readBankPaymentRow))}`;
  return { title: words.title, body };
}

/** Rows come with the latest first; of those that pay one invoice, the earliest counts. */
async function matchRows({ services }: UserVisit, rows: readonly PaperRow[]): Promise<readonly MatchedPayment[]> {
  const payments = rows.map(readBankPaymentRow);
  const found = await Promise.all(payments.map((payment) => matchBankPayment(services.store, payment)));
  const matches = doubtRepeated(found.toReversed()).toReversed();
  return payments.flatMap((payment, at) => {
    const match = matches[at];
    return match ? [{ payment, match, invoice: match.invoice }] : [];
  });
}

async function readBegun({ services }: UserVisit, payment: BankPayment): Promise<MatchedPayment> {
  const invoice = payment.invoice === null ? undefined : await findInvoice(services.store, payment.invoice);
  return { payment, match: undefined, invoice };
}

async function readCredited({ services }: UserVisit, payment: BankPayment): Promise<CreditedPayment> {
  const { accounts, papers } = services.store;
  const [account, row] = await Promise.all([
    payment.account === null ? undefined : accounts.get(payment.account),
    payment.invoice === null ? undefined : papers.get('invoice', payment.invoice),
  ]);
  return { payment, account, invoice: row && readInvoiceRow(row) };
}

function doneMessage({ language, query, format }: UserVisit): Html | undefined {
  const words = BANK_WORDS[language];
  const count = (name: string) => {
    const text = query.get(name) ?? '';
    return /^\d{1,6}$/.test(text) ? Number(text) : 0;
  };
  switch (query.get('done')) {
    case 'imported':
      return message('done', words.imported(format.number(count('added')), format.number(count('known'))));
    case 'credited': {
      const left = count('left');
      return html`${message('done', words.done.credited(format.number(count('count'))))}${left > 0 && message('error', words.left(format.number(left)))}`;
    }
    case 'dismissed':
      return message('done', words.done.dismissed);
    case 'reopened':
      return message('done', words.done.reopened);
    default:
      return undefined;
  }
}

function uploadForm(visit: UserVisit): Html {
  const words = BANK_WORDS[visit.language];
  const file = { name: FILE, label: words.file, accept: '.txt,text/plain', multiple: false, hint: words.fileHint };
  return html`<form method="post" action="${BANK_PATH}" enctype="multipart/form-data">
<input type="hidden" name="csrf" value="${visit.csrf}"><input type="hidden" name="change" value="import">
${fileField(file)}${codeField(visit, 'import')}
<p><button>${words.importButton}</button></p>
</form>`;
}
