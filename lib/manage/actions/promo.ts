// Promo codes, each of which gives a grant to accounts whose owners type it in: makes, lists and ends them.
import { InvalidInputError, OperatorError, UnknownError } from '../../base/operator-error.ts';
import { type Micro, toRub } from '../../money/money.ts';
import type { PromoCode } from '../../store/ports/promos.ts';
import { walkPages } from '../../store/walks.ts';
import { type Answer, formatMoney, formatPairs, formatTable, toTime } from '../answer.ts';
import { recordAction, recordFirst } from '../audited-action.ts';
import type { Session } from '../session.ts';

const CODES_PER_PAGE = 500;

export const promoActions = { create, list, end };

interface CreateFlags {
  readonly uses: number;
  readonly reason: string;
  readonly code?: string;
  readonly until?: number;
  readonly days?: number;
  readonly opensWallet?: boolean;
}

async function create(session: Session, amount: Micro, flags: CreateFlags): Promise<Answer> {
  const { createPromo, makePromoCode } = await import('../../accounts/promos.ts');
  const { uses, reason, until = null, days = null, opensWallet: opens = false } = flags;
  const createdAt = Date.now();
  if (until !== null && until <= createdAt) throw new InvalidInputError('The end of the code has passed.');
  const code = flags.code === undefined ? makePromoCode() : await readCode(flags.code);
  const promo = createPromo({ code, amount, uses, until, days, opens, reason, createdAt });
  if (!(await session.store.promos.add(promo))) throw new OperatorError(`The code ${code} already exists.`);
  const detail = { rub_micro: `${amount}`, uses, until, days, opens, reason };
  await recordAction(session, { action: 'promo.create', target: code, detail });
  return describe(promo);
}

async function list({ store }: Session): Promise<Answer> {
  const codes: PromoCode[] = [];
  for await (const page of walkPages(CODES_PER_PAGE, store.promos.page, ({ code }) => code)) codes.push(...page);
  const rows = codes.map((promo) => [
    promo.code,
    formatMoney(promo.amount),
    `${promo.used} of ${promo.uses}`,
    promo.until === null ? 'always' : toTime(promo.until),
    promo.days === null ? 'for good' : `${promo.days} days`,
    promo.endedAt === null ? '' : toTime(promo.endedAt),
    promo.reason,
  ]);
  const names = ['code', 'gives', 'used', 'until', 'lasts', 'ended', 'reason'];
  return {
    json: { codes: codes.map(toJson) },
    text: rows.length === 0 ? 'No promo codes.' : formatTable(names, rows),
  };
}

async function end(session: Session, text: string): Promise<Answer> {
  const { promos } = session.store;
  const code = await readCode(text);
  const ended = await promos.end(code, Date.now());
  const promo = await promos.get(code);
  if (!promo) throw new UnknownError(`There is no code ${code}.`);
  await recordFirst(session, { repeated: !ended, action: 'promo.end', target: code });
  return describe(promo);
}

async function readCode(text: string): Promise<string> {
  const { readPromoCode } = await import('../../accounts/promos.ts');
  const code = readPromoCode(text);
  if (code === undefined) throw new InvalidInputError('A code has 4 to 40 letters, digits and hyphens.');
  return code;
}

function describe(promo: PromoCode): Answer {
  const { code, amount, uses, used, until, days, opens, reason, endedAt } = promo;
  const text = formatPairs([
    ['code', code],
    ['gives', formatMoney(amount)],
    ['used', `${used} of ${uses}`],
    ['until', until === null ? 'it is ended' : toTime(until)],
    ['lasts', days === null ? 'for good' : `${days} days`],
    ['opens wallets', opens ? 'yes' : 'no'],
    ['reason', reason],
    ...(endedAt === null ? [] : [['ended', toTime(endedAt)] as const]),
  ]);
  return { json: toJson(promo), text };
}

function toJson({ code, amount, uses, used, until, days, opens, reason, createdAt, endedAt }: PromoCode) {
  return {
    code,
    amount_rub: toRub(amount),
    uses,
    used,
    until: until === null ? null : toTime(until),
    days,
    opens_wallet: opens,
    reason,
    created_at: toTime(createdAt),
    ended_at: endedAt === null ? null : toTime(endedAt),
  };
}
