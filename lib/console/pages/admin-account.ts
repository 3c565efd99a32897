// One account for an operator: its wallet, keys and owners; suspend, top up, correct, invite.
import { randomBytes } from 'node:crypto';
import { fault } from '../../base/faults.ts';
import { bookOperation } from '../../ledger/booking.ts';
import { FIRST_TOPUP_MINIMUM, type Operation, type OutcomeStatus, type Wallet } from '../../money/decide.ts';
import type { Micro } from '../../money/money.ts';
import { playMoneyLeft, settlePlayMoney } from '../../payments/play-money.ts';
import type { Account } from '../../store/ports/accounts.ts';
import { readEmail } from '../../users/people.ts';
import { accountNameWords, RENAME, renameAccount } from '../account-name.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { codeField } from '../code-field.ts';
import { definitionList, field, foldAway, form, message } from '../components.ts';
import { customerUsage } from '../dashboard/customer.ts';
import { type Form, isIdLine, isLine, type Refused } from '../forms.ts';
import { fundsRows } from '../funds.ts';
import { type Html, html } from '../html.ts';
import { defineWords } from '../language.ts';
import { type Answer, type Page, page } from '../page.ts';
import { isRefused, refusalMessage, typedFields } from '../refused-form.ts';
import type { UserVisit } from '../visit.ts';
import { accessSections, changeForm } from './account-access.ts';
import { changeMonthlyByForm, giveByForm, grantForms, revokeByForm } from './account-grants.ts';
import { accountLimitsForm, changeAccountLimits, type RefusedLimits } from './admin-account-limits.ts';
import { changeNote, noteForm } from './admin-account-note.ts';
import { changePriceList, priceListForm, priceListRow } from './admin-price-list.ts';
import { sendLink } from './link-request.ts';

const WORDS = defineWords({
  en: {
    id: 'Account ID',
    status: 'Status',
    active: 'active',
    suspended: 'suspended',
    held: 'Held',
    charged: 'Charged',
    topped: 'Paid',
    adjusted: 'Corrections',
    granted: 'Bonuses given',
    suspend: 'Suspend',
    resume: 'Lift the suspension',
    suspendText: 'Its keys are rejected with 403 within a second; running calls finish and are charged.',
    money: 'Record a payment',
    amount: 'Amount (RUB)',
    amountHint: 'Up to 6 decimals, such as 1000 or 12.50',
    payment: 'Payment number',
    paymentHint: 'From the bank or the payment provider; it must be unique.',
    topup: 'Record',
    more: 'More changes',
    correct: 'Correct the balance',
    correctHint: 'May be negative; the balance cannot fall below zero.',
    reason: 'Reason',
    adjust: 'Correct',
    play: 'Play money',
    playHint:
      'This wallet holds money from test payments. Where models cost real money, its calls are refused with 402 until you decide what to do with it.',
    convert: 'Convert',
    convertHint: 'It stays in the balance and counts as real money.',
    writeOff: 'Write off',
    writeOffHint: (left: string) => `The ${left} left of it is taken from the balance.`,
    noPlay: 'This wallet no longer holds play money.',
    running:
      'Calls of this account are still running, and money they return would no longer count as play money. Wait for them to finish, or suspend the account first.',
    stale: 'The wallet has just changed. Try again.',
    link: 'Send this link to the owner. It works once, expires in a week, and is shown only now. Somebody who already has access accepts the invitation after signing in.',
    isOwner: 'This user already belongs to the account.',
    suspendedPerson: 'This user is suspended.',
    payments: 'Payments',
    papers: 'Documents',
    refusedRequests: 'Refused requests',
    badAmount: 'Enter an amount in RUB, such as 1500 or 1500.50.',
    badText: 'A field is empty, too long, or has invisible characters.',
    badEmail: 'Enter a valid email address.',
    done: 'Done.',
    exists: 'This payment was already recorded: nothing changed.',
    corrected: 'This correction was already made: nothing changed.',
    reused: 'This form has already made another correction. Send it again to make this one.',
    refusals: {
      first_topup_too_small: (minimum: string) => `The first payment must be at least ${minimum}.`,
      id_taken: () => 'This payment number is already recorded with another amount or account.',
      insufficient: () => 'The balance cannot fall below zero.',
    },
    refused: (status: string) => `The ledger refused this: ${status}.`,
  },
  ru: {
    id: 'ID аккаунта',
    status: 'Статус',
    active: 'активен',
    suspended: 'приостановлен',
    held: 'В резерве',
    charged: 'Списано',
    topped: 'Пополнено',
    adjusted: 'Корректировки',
    granted: 'Начислено бонусов',
    suspend: 'Приостановить',
    resume: 'Снять приостановку',
    suspendText: 'В течение секунды ключи начнут получать 403; выполняющиеся запросы завершатся и будут оплачены.',
    money: 'Зачислить платёж',
    amount: 'Сумма, ₽',
    amountHint: 'До 6 знаков после запятой, например 1000 или 12,50',
    payment: 'Номер платежа',
    paymentHint: 'Из банка или платёжной системы; не должен повторяться.',
    topup: 'Зачислить',
    more: 'Другие изменения',
    correct: 'Корректировка баланса',
    correctHint: 'Может быть отрицательной; баланс не опустится ниже нуля.',
    reason: 'Причина',
    adjust: 'Изменить баланс',
    play: 'Тестовые деньги',
    playHint:
      'В кошельке деньги тестовых платежей. Запросы к платным моделям получают 402, пока вы не решите, что с этими деньгами делать.',
    convert: 'Засчитать',
    convertHint: 'Деньги останутся на балансе как настоящие.',
    writeOff: 'Списать',
    writeOffHint: (left: string) => `С баланса спишется остаток тестовых денег: ${left}.`,
    noPlay: 'В кошельке больше нет тестовых денег.',
    running:
      'Запросы этого аккаунта ещё выполняются, и деньги, которые по ним вернутся, уже не будут считаться тестовыми. Дождитесь их завершения или сначала приостановите аккаунт.',
    stale: 'Кошелёк только что изменился. Попробуйте ещё раз.',
    link: 'Отправьте ссылку владельцу. Она сработает один раз в течение недели и больше не будет показана. Тот, у кого уже есть доступ, примет приглашение после входа.',
    isOwner: 'Этот пользователь уже состоит в аккаунте.',
    suspendedPerson: 'Доступ этого пользователя приостановлен.',
    payments: 'Платежи',
    papers: 'Документы',
    refusedRequests: 'Отклонённые запросы',
    badAmount: 'Введите сумму в рублях, например 1500 или 1500,50.',
    badText: 'Поле пустое, слишком длинное или содержит невидимые символы.',
    badEmail: 'Введите корректный адрес почты.',
    done: 'Готово.',
    exists: 'Этот платёж уже зачислен: ничего не изменилось.',
    corrected: 'Эта корректировка уже внесена: ничего не изменилось.',
    reused: 'По этой форме уже внесена другая корректировка. Чтобы внести эту, отправьте её ещё раз.',
    refusals: {
      first_topup_too_small: (minimum: string) => `Первый платёж кошелька — не меньше ${minimum}.`,
      id_taken: () => 'Этот номер платежа уже использован с другой суммой или для другого аккаунта.',
      insufficient: () => 'Баланс не может опуститься ниже нуля.',
    },
    refused: (status: string) => `Операция отклонена: ${status}.`,
  },
});

interface PageState {
  readonly link?: string;
  readonly limits?: RefusedLimits;
}

export const adminAccount = page({
  path: '/admin/accounts/{id}',
  who: 'operator',
  get: async (visit) => accountPage(visit, await findRequestedAccount(visit), {}),
  async post(visit, sent) {
    const account = await findRequestedAccount(visit);
    switch (sent.text('change')) {
      case 'suspend':
      case 'resume':
        return setStatus(visit, account, sent.text('change') === 'suspend');
      case 'price_list': {
        const problem = await changePriceList(visit, account, sent);
        if (problem !== undefined) return refused(visit, account, { sent, text: problem });
        return { to: `/admin/accounts/${account.id}?done=done` };
      }
      case RENAME: {
        const problem = await renameAccount(visit, account, sent);
        if (problem !== undefined) return refused(visit, account, { sent, text: problem, field: 'name' });
        return { to: `/admin/accounts/${account.id}?done=done` };
      }
      case 'note': {
        const problem = await changeNote(visit, account, sent);
        if (problem !== undefined) return refused(visit, account, { sent, text: problem });
        return { to: `/admin/accounts/${account.id}?done=done` };
      }
      case 'topup':
        return topup(visit, account, sent);
      case 'adjust':
        return adjust(visit, account, sent);
      case 'grant':
      case 'grant_revoke': {
        const answer = await (sent.text('change') === 'grant' ? giveByForm : revokeByForm)(visit, account, sent);
        return 'text' in answer ? refused(visit, account, { sent, ...answer }) : answer;
      }
      case 'grant_monthly': {
        const answer = await changeMonthlyByForm(visit, account, sent);
        return 'text' in answer ? refused(visit, account, { sent, ...answer }) : answer;
      }
      case 'convert':
      case 'write_off':
        return endPlayMoney(visit, account, sent);
      case 'limits': {
        const limits = await changeAccountLimits(visit, account, sent);
        if (limits) return { ...(await accountPage(visit, account, { limits })), status: 400 };
        return { to: `/admin/accounts/${account.id}?done=done` };
      }
      case 'invite':
        return invite(visit, account, sent);
      default:
        throw fault('stale_form');
    }
  },
});

async function findRequestedAccount({ services, request }: UserVisit): Promise<Account> {
  const account = await services.store.accounts.get(String(request.params.id));
  if (!account) throw fault('not_found');
  return account;
}

async function setStatus(visit: UserVisit, { id }: Account, suspended: boolean): Promise<Answer> {
  await (suspended ? visit.services.accounts.suspend(id) : visit.services.accounts.resume(id));
  await audit(visit, { action: suspended ? 'account.suspend' : 'account.resume', target: id, account: id });
  return { to: `/admin/accounts/${id}?done=done` };
}

async function topup(visit: UserVisit, account: Account, sent: Form): Promise<Answer> {
  const words = WORDS[visit.language];
  const amount = readRub(sent.text('amount'), visit.language);
  const paymentId = sent.text('payment');
  if (amount === undefined) return refused(visit, account, { sent, text: words.badAmount, field: 'amount' });
  if (!isIdLine(paymentId)) return refused(visit, account, { sent, text: words.badText, field: 'payment' });
  const op = { kind: 'topup', wallet: account.id, at: visit.services.now(), amount, paymentId } as const;
  return bookAndAudit(visit, account, { op, sent });
}

async function adjust(visit: UserVisit, account: Account, sent: Form): Promise<Answer> {
  const words = WORDS[visit.language];
  const text = sent.text('amount');
  const size = readRub(text.replace(/^[-−]/, ''), visit.language);
  const reason = sent.text('reason');
  if (size === undefined) return refused(visit, account, { sent, text: words.badAmount, field: 'amount' });
  if (!isLine(reason)) return refused(visit, account, { sent, text: words.badText, field: 'reason' });
  const amount = /^[-−]/.test(text) ? -size : size;
  // The form's own id, so that a double submission corrects once.
  const id = sent.text('adjust');
  const adjustId = ADJUST_ID.test(id) ? id : makeAdjustId();
  const op = { kind: 'adjust', wallet: account.id, at: visit.services.now(), amount, reason, adjustId } as const;
  return bookAndAudit(visit, account, { op, sent });
}

const ADJUST_ID = /^adj_[0-9a-f]{24}$/;

function makeAdjustId(): string {
  return `adj_${randomBytes(12).toString('hex')}`;
}

async function bookAndAudit(
  visit: UserVisit,
  account: Account,
  { op, sent }: { readonly op: Extract<Operation, { kind: 'topup' | 'adjust' }>; readonly sent: Form },
): Promise<Answer> {
  const { status } = await bookOperation(visit.services.store, op);
  const isReused = op.kind === 'adjust' && status === 'id_taken';
  if (isReused) return refused(visit, account, { sent, text: WORDS[visit.language].reused });
  if (status !== 'done' && status !== 'exists') {
    return refused(visit, account, { sent, text: describeRefusal(visit, status) });
  }
  const why = op.kind === 'adjust' ? { reason: op.reason } : { paymentId: op.paymentId };
  const detail = { rub_micro: `${op.amount}`, status, ...why };
  await audit(visit, { action: `wallet.${op.kind}`, target: account.id, account: account.id, detail });
  const done = status === 'exists' && op.kind === 'adjust' ? 'corrected' : status;
  return { to: `/admin/accounts/${account.id}?done=${done}` };
}

async function endPlayMoney(visit: UserVisit, account: Account, sent: Form): Promise<Answer> {
  const words = WORDS[visit.language];
  const { services } = visit;
  const reason = sent.text('reason');
  if (!isLine(reason)) return refused(visit, account, { sent, text: words.badText, field: 'reason' });
  const how = sent.text('change') === 'convert' ? 'convert' : 'write_off';
  const { status, amount } = await settlePlayMoney(services.store, account.id, { how, reason, at: services.now() });
  if (status !== 'done') {
    const text = status === 'stale' || status === 'running' ? words[status] : words.noPlay;
    return refused(visit, account, { sent, text });
  }
  const detail = { end: how, rub_micro: `${amount}`, reason };
  await audit(visit, { action: 'wallet.play_money', target: account.id, account: account.id, detail });
  return { to: `/admin/accounts/${account.id}?done=done` };
}

function describeRefusal({ language, format }: UserVisit, status: OutcomeStatus): string {
  const words = WORDS[language];
  const refusal = (words.refusals as Readonly<Record<string, (minimum: string) => string>>)[status];
  return refusal ? refusal(format.rub(FIRST_TOPUP_MINIMUM)) : words.refused(status);
}

async function invite(visit: UserVisit, account: Account, sent: Form): Promise<Answer> {
  const { services } = visit;
  const words = WORDS[visit.language];
  const refuse = (text: string) => refused(visit, account, { sent, text, field: 'email' });
  const email = readEmail(sent.text('email'));
  if (email === undefined) return refuse(words.badEmail);
  const known = await services.store.users.find(email);
  if (known?.status === 'suspended') return refuse(words.suspendedPerson);
  const members = await services.store.users.listAccountMembers(account.id);
  if (members.some(({ user }) => user === known?.id)) return refuse(words.isOwner);
  await audit(visit, { action: 'owner.invite', target: email, account: account.id });
  const token = await services.people.makeLink({ purpose: 'invite', account: account.id, email });
  await sendLink(visit, { kind: 'invite', email, token, purpose: 'invite' }).catch((err: unknown) =>
    services.log.error({ err }, 'could not send an email'),
  );
  return accountPage(visit, account, { link: `${services.publicUrl()}/setup?token=${token}` });
}

async function refused(visit: UserVisit, account: Account, refusal: Refused): Promise<Page> {
  return { ...(await accountPage({ ...visit, refused: refusal }, account, {})), status: 400 };
}

async function accountPage(visit: UserVisit, account: Account, { link, limits }: PageState): Promise<Page> {
  const words = WORDS[visit.language];
  const { store, catalogEditor } = visit.services;
  // A discount that was just saved at another gateway is among the price lists.
  await catalogEditor.read();
  const wallet = await store.ledger.wallet(account.id);
  const playLeft = wallet?.playMoney && (await playMoneyLeft(store, wallet));
  const done = visit.query.get('done');
  const body = html`${refusalMessage(visit)}
${link !== undefined && message('done', html`${words.link}<br><code class="key" data-copy>${link}</code>`)}
${(done === 'done' || done === 'exists' || done === 'corrected') && message('done', words[done])}
${wallet && balances(visit, account, wallet)}
${playLeft !== undefined && playForms(visit, account, playLeft)}
<p><a href="/admin/payments?account=${account.id}">${words.payments}</a> · <a href="/admin/accounts/${account.id}/papers">${words.papers}</a> · <a href="/admin/accounts/${account.id}/refused">${words.refusedRequests}</a></p>
${await noteForm(visit, account)}
${await customerUsage(visit, account.id)}
${await accessSections(visit, account)}
${wallet && (await grantForms(visit, account, wallet))}
${changes(visit, account, limits)}`;
  return { title: account.name, body };
}

function balances(visit: UserVisit, account: Account, wallet: Wallet): Html {
  const { language, format } = visit;
  const words = WORDS[language];
  return definitionList([
    [words.id, html`<code>${account.id}</code>`],
    [words.status, words[account.status]],
    ...fundsRows(visit, wallet),
    [words.held, format.rub(wallet.held)],
    [words.charged, format.rub(wallet.charged)],
    [words.topped, format.rub(wallet.topped)],
    [words.adjusted, format.rub(wallet.adjusted)],
    ...(wallet.granted === undefined ? [] : [[words.granted, format.rub(wallet.granted)] as const]),
    priceListRow(visit, account),
  ]);
}

function playForms(visit: UserVisit, account: Account, left: Micro): Html {
  const words = WORDS[visit.language];
  const choice = (name: 'convert' | 'write_off', button: string, hint: string) =>
    form(visit, {
      action: `/admin/accounts/${account.id}`,
      button,
      confirm: `${button}? ${hint}`,
      fields: html`<input type="hidden" name="change" value="${name}"><p>${hint}</p>
${field({ ...typedFields(visit, { change: name })('reason'), id: `${name}-reason`, label: words.reason })}${codeField(visit, name)}`,
    });
  return html`<h2>${words.play}</h2>
${message('error', words.playHint)}
${choice('convert', words.convert, words.convertHint)}
${choice('write_off', words.writeOff, words.writeOffHint(visit.format.rub(left)))}`;
}

function changes(visit: UserVisit, account: Account, limits: RefusedLimits | undefined): Html {
  const words = WORDS[visit.language];
  const change = (name: string, button: string, fields: Html, danger = false) =>
    changeForm(visit, account, {
      name,
      button,
      danger,
      confirm: danger ? `${button}? ${words.suspendText}` : undefined,
      fields,
    });
  const topup = typedFields(visit, { change: 'topup' });
  const adjust = typedFields(visit, { change: 'adjust' });
  const amount = { label: words.amount, inputmode: 'decimal' } as const;
  const isActive = account.status === 'active';
  const correct = change(
    'adjust',
    words.adjust,
    html`${field({ ...amount, ...adjust('amount'), id: 'adjust-amount', hint: words.correctHint })}${field({ ...adjust('reason'), label: words.reason })}<input type="hidden" name="adjust" value="${makeAdjustId()}">`,
  );
  const status = change(
    isActive ? 'suspend' : 'resume',
    isActive ? words.suspend : words.resume,
    html`<p>${isActive && words.suspendText}</p>`,
    isActive,
  );
  const name = accountNameWords(visit);
  const rename = change(
    RENAME,
    name.button,
    field({ ...typedFields(visit, { change: RENAME })('name', account.name), id: 'rename', label: name.title }),
  );
  return html`<h2>${words.money}</h2>
${change('topup', words.topup, html`${field({ ...amount, ...topup('amount'), id: 'topup-amount', hint: words.amountHint })}${field({ ...topup('payment'), label: words.payment, hint: words.paymentHint })}`)}
${priceListForm(visit, account)}
<h2>${words.more}</h2>
${foldAway(words.correct, correct, isRefused(visit, { change: 'adjust' }))}
${foldAway(name.title, rename, isRefused(visit, { change: RENAME }))}
${accountLimitsForm(visit, account, limits)}
${foldAway(isActive ? words.suspend : words.resume, status)}`;
}
