// Automatic top-up on the wallet page: its state and its form, which never charges without saying so first.
import { fault } from '../../base/faults.ts';
import type { Wallet } from '../../money/decide.ts';
import { formatRub, KOPECK, type Micro } from '../../money/money.ts';
import { getOrderBounds, intersectBounds } from '../../payments/order-bounds.ts';
import { countOrders, findBlocker, markResumed } from '../../payments/topup-rules.ts';
import type { AutoTopupRow, SavedMethodRow } from '../../store/ports/payments.ts';
import type { MethodKind } from '../../upstream/contract/payment.ts';
import { readRub } from '../amount.ts';
import { audit } from '../audit.ts';
import { checkbox, definitionList, field, foldAway, form, message, select } from '../components.ts';
import type { Form } from '../forms.ts';
import { type Html, html } from '../html.ts';
import type { Page, Redirect } from '../page.ts';
import { linkTo, type OwnerVisit } from '../visit.ts';
import { autoWords } from './auto-words.ts';
import { cardName, listCards } from './cards.ts';
import { consentText, storeConsent } from './consent.ts';
import { describeBounds, isWithin } from './pay.ts';
import { reasonText } from './reasons.ts';

const PATH = '/account/wallet';

type FieldName = 'threshold' | 'amount' | 'cap' | 'card' | 'consent' | 'form';

/** The submitted values and their errors. */
export interface AutoProblem {
  readonly typed: Readonly<Record<'threshold' | 'amount' | 'cap' | 'card', string>>;
  readonly problems: Readonly<Partial<Record<FieldName, string>>>;
}

/** Before anything is set up. */
const NONE: Omit<AutoTopupRow, 'id'> = {
  enabled: false,
  threshold: 0n,
  amount: 0n,
  cap: 0n,
  method: null,
  consent: null,
  order: null,
  nextAt: 0,
  declines: 0,
  pausedAt: null,
  reason: null,
  day: '',
  dayCount: 0,
  month: '',
  monthSum: 0n,
  version: 0,
};

async function readAutoTopup({ services, account }: OwnerVisit): Promise<AutoTopupRow> {
  return (await services.store.payments.autoTopup(account.id)) ?? { id: account.id, ...NONE };
}

/** Cards that can be charged now. */
async function listChargeableCards(visit: OwnerVisit): Promise<readonly SavedMethodRow[]> {
  const open = visit.services.payments.providers().filter(({ provider }) => provider.charge);
  return (await listCards(visit)).filter(({ provider }) => open.some(({ name }) => name === provider));
}

/** Hidden where no provider can charge a card, unless it is on. */
export async function autoSection(
  visit: OwnerVisit,
  wallet: Wallet,
  rejected?: AutoProblem,
): Promise<Html | undefined> {
  const { services, language } = visit;
  const words = autoWords(language);
  const [auto, cards] = await Promise.all([readAutoTopup(visit), listChargeableCards(visit)]);
  const isOffered = services.payments.providers().some(({ provider }) => provider.charge);
  if (!isOffered && !auto.enabled) return undefined;
  return html`<h2>${words.title}</h2>
${rejected?.problems.form !== undefined && message('error', rejected.problems.form)}
${auto.enabled && autoTopupState(visit, auto, wallet)}
${cards.length === 0 ? html`<p>${words.noCard}</p>` : autoForm(visit, auto, { cards, rejected: rejected })}
${auto.enabled && endForm(visit)}`;
}

/** Folded, so that nobody sends it instead of the form above. */
function endForm(visit: OwnerVisit): Html {
  const words = autoWords(visit.language);
  const fields = html`<input type="hidden" name="change" value="auto_off">`;
  const confirm = `${words.off}?`;
  const end = form(visit, { action: linkTo(visit, PATH), button: words.off, danger: true, confirm, fields });
  return foldAway(words.off, end);
}

function autoTopupState({ language, format, services, zone }: OwnerVisit, auto: AutoTopupRow, wallet: Wallet): Html {
  const words = autoWords(language);
  const now = { at: services.now(), zone };
  const { autoTopup: bounds } = services.catalog();
  const state = findBlocker(auto, wallet, { ...now, bounds }) ?? 'due';
  const { pausedAt, reason, cap, nextAt } = auto;
  return html`${definitionList([
    [words.state, html`<strong>${words.states[state]}</strong>`],
    ...(pausedAt === null ? [] : [[words.since, format.time(pausedAt)] as const]),
    ...(reason === null ? [] : [[words.why, reasonText(language, reason)] as const]),
    ...(state === 'waits' && nextAt > now.at ? [[words.next, format.time(nextAt)] as const] : []),
    [words.month, `${format.rub(countOrders(auto, now).monthSum)} / ${format.rub(cap)}`],
  ])}
${pausedAt !== null && html`<p>${words.resume}</p>`}`;
}

interface AutoFormOptions {
  readonly cards: readonly SavedMethodRow[];
  readonly rejected: AutoProblem | undefined;
}

function autoForm(visit: OwnerVisit, auto: AutoTopupRow, { cards, rejected }: AutoFormOptions): Html {
  const { language } = visit;
  const words = autoWords(language);
  const { typed = formatStored(visit, auto), problems = {} } = rejected ?? {};
  const sum = (name: 'threshold' | 'amount' | 'cap', hint?: string) =>
    field({
      name,
      id: `auto-${name}`,
      label: words[name],
      value: typed[name],
      inputmode: 'decimal',
      error: problems[name],
      hint,
    });
  const options = cards.map((card) => [card.id, cardName(card, language)] as const);
  const wrong = problems.card ?? problems.consent;
  const fields = html`<input type="hidden" name="change" value="auto">
${sum('threshold', words.thresholdHint)}
${sum('amount')}
${sum('cap', words.capHint(visit.zone))}
${select({ name: 'card', label: words.card, chosen: typed.card }, options)}
${checkbox({ name: 'consent', label: consentText(language, 'auto_topup'), checked: false })}
${wrong !== undefined && message('error', wrong)}`;
  return form(visit, { action: linkTo(visit, PATH), fields, button: auto.enabled ? words.save : words.on });
}

function formatStored({ format }: OwnerVisit, { threshold, amount, cap, method }: AutoTopupRow): AutoProblem['typed'] {
  const text = (micro: Micro) => (micro === 0n ? '' : format.rubTyped(micro));
  return { threshold: text(threshold), amount: text(amount), cap: text(cap), card: method ?? '' };
}

/** Turns automatic top-up on or changes it; asks first if a charge would follow at once. */
export async function changeAuto(visit: OwnerVisit, sent: Form): Promise<Redirect | Page | AutoProblem> {
  const { services, account, language } = visit;
  const input = await readAutoForm(visit, sent);
  if ('problems' in input) return input;
  const { card, ...sums } = input;
  const [auto, wallet] = await Promise.all([readAutoTopup(visit), services.store.ledger.wallet(account.id)]);
  if (!wallet) throw fault('internal', {}, new Error(`account ${account.id} has no wallet`));
  const changed = { ...auto, ...sums, enabled: true, method: card.id };
  const next = isPauseSolved(auto, card) ? markResumed(changed) : changed;
  const { autoTopup: bounds } = services.catalog();
  const isDue = findBlocker(next, wallet, { at: services.now(), zone: visit.zone, bounds }) === undefined;
  if (isDue && !sent.has('confirm')) return confirmPage(visit, sent, { ...input, balance: wallet.avail + wallet.held });
  const consent = await storeConsent(visit, 'auto_topup');
  if (!(await services.store.payments.changeAutoTopup({ ...next, consent }))) {
    return { typed: readTyped(sent), problems: { form: autoWords(language).conflict } };
  }
  // A charge that is due, which the owner has confirmed, starts now.
  services.topups.checkSoon(account.id);
  const { threshold, amount, cap } = sums;
  const detail = { threshold: formatRub(threshold), amount: formatRub(amount), cap: formatRub(cap), card: card.id };
  await audit(visit, { action: 'auto_topup.on', target: account.id, detail });
  return { to: linkTo(visit, `${PATH}?done=auto`) };
}

/** After declines only another card resumes it; after any other pause, any change does. */
function isPauseSolved({ method, declines, pausedAt }: AutoTopupRow, card: SavedMethodRow): boolean {
  return declines > 0 ? method !== card.id : pausedAt !== null;
}

interface AutoTopupForm {
  readonly threshold: Micro;
  readonly amount: Micro;
  readonly cap: Micro;
  readonly card: SavedMethodRow;
}

async function readAutoForm(visit: OwnerVisit, sent: Form): Promise<AutoTopupForm | AutoProblem> {
  const { services, account, language } = visit;
  const words = autoWords(language);
  const typed = readTyped(sent);
  const refuse = (name: FieldName, text: string): AutoProblem => ({ typed, problems: { [name]: text } });
  const card = (await listChargeableCards(visit)).find(({ id }) => id === typed.card);
  const open = services.payments.providers().find(({ name }) => name === card?.provider);
  if (!card || !open) return refuse('card', words.badCard);
  const threshold = readRub(typed.threshold, visit.language);
  const amount = readRub(typed.amount, visit.language);
  const cap = readRub(typed.cap, visit.language);
  const { autoTopup: allowed } = services.catalog();
  if (threshold === undefined || !isWithin(threshold, allowed.threshold))
    return refuse('threshold', describeBounds(visit, allowed.threshold));
  if (amount === undefined || amount % KOPECK !== 0n) return refuse('amount', words.badAmount);
  const bounds = intersectBounds(
    getOrderBounds(await services.payments.minimumOrder(account.id), open, card.kind as MethodKind),
    allowed.amount,
  );
  if (!isWithin(amount, bounds)) return refuse('amount', describeBounds(visit, bounds));
  if (cap === undefined || cap < amount) return refuse('cap', words.badCap);
  if (!isWithin(cap, allowed.cap)) return refuse('cap', describeBounds(visit, allowed.cap));
  if (!sent.has('consent')) return refuse('consent', words.noConsent);
  return { threshold, amount, cap, card };
}

function readTyped(sent: Form): AutoProblem['typed'] {
  return {
    threshold: sent.text('threshold'),
    amount: sent.text('amount'),
    cap: sent.text('cap'),
    card: sent.text('card'),
  };
}

interface DueCharge extends AutoTopupForm {
  readonly balance: Micro;
}

/** Shown before an immediate charge. */
function confirmPage(visit: OwnerVisit, sent: Form, { amount, card, threshold, balance }: DueCharge): Page {
  const { language, format } = visit;
  const words = autoWords(language);
  const sum = format.rub(amount);
  const hidden = { ...readTyped(sent), change: 'auto', consent: 'yes', confirm: 'yes' };
  const fields = Object.entries(hidden).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const body = html`${message('done', words.now(sum, cardName(card, language)))}
${balance + amount < threshold && html`<p>${words.nowMore}</p>`}
<p>${consentText(language, 'auto_topup')}</p>
${form(visit, { action: linkTo(visit, PATH), fields, button: words.confirm(sum) })}
<p><a href="${linkTo(visit, PATH)}">${words.back}</a></p>`;
  return { title: words.nowTitle, body };
}

export async function endAuto(visit: OwnerVisit): Promise<Redirect | AutoProblem> {
  const { services, account, language } = visit;
  const auto = await readAutoTopup(visit);
  if (auto.enabled && !(await services.store.payments.changeAutoTopup({ ...auto, enabled: false }))) {
    return { typed: formatStored(visit, auto), problems: { form: autoWords(language).conflict } };
  }
  await audit(visit, { action: 'auto_topup.off', target: account.id });
  return { to: linkTo(visit, `${PATH}?done=auto_off`) };
}
