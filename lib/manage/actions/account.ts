// Accounts: creates, lists, shows, limits, suspends and resumes them, and puts them on a price list.

import { InvalidInputError, OperatorError } from '../../base/operator-error.ts';
import { toRub } from '../../money/money.ts';
import type { Account } from '../../store/ports/accounts.ts';
import { type Answer, allowanceJson, formatMoney, formatPairs, formatTable, toTime } from '../answer.ts';
import { recordAction } from '../audited-action.ts';
import { findAccount, openAccounts, type Session } from '../session.ts';
import {
  changeRequestLimits,
  describeRequestLimits,
  hasRequestLimits,
  type RequestLimitOptions,
  requestLimitsJson,
} from './request-limits.ts';

export const accountActions = { create, list, show, limit, setPriceList, suspend, resume };

async function create(session: Session, { name }: { name: string }): Promise<Answer> {
  const { id } = await (await openAccounts(session)).create(name);
  const text = `${formatPairs([['account', id]])}\nNext: tollgate wallet topup ${id} 1000 --payment-id <id>`;
  return { json: { account_id: id }, text };
}

async function list(session: Session): Promise<Answer> {
  const accounts = await (await openAccounts(session)).list();
  const rows = accounts.map(({ id, status, createdAt, name }) => [id, status, toTime(createdAt), name]);
  return {
    json: { accounts: accounts.map(toJson) },
    text: rows.length === 0 ? 'No accounts.' : formatTable(['account', 'status', 'created', 'name'], rows),
  };
}

async function show(session: Session, account: string): Promise<Answer> {
  return describe(await findAccount(session, account));
}

async function limit(session: Session, id: string, options: RequestLimitOptions): Promise<Answer> {
  if (!hasRequestLimits(options)) throw new InvalidInputError('Give at least one limit; see --help.');
  const accounts = await openAccounts(session);
  const { requests } = await accounts.get(id);
  return describe(await accounts.limit(id, changeRequestLimits(requests, options)));
}

async function setPriceList(session: Session, id: string, name: string): Promise<Answer> {
  const { NO_PRICE_LIST } = await import('../../catalog/customer-lists.ts');
  const to = name === NO_PRICE_LIST ? undefined : name;
  if (to !== undefined) await requirePriceList(session, to);
  const accounts = await openAccounts(session);
  const { priceList: from } = await accounts.get(id);
  const changed = await accounts.setPriceList(id, to);
  const detail = { price_list: to ?? NO_PRICE_LIST, before: from ?? NO_PRICE_LIST };
  await recordAction(session, { action: 'account.price_list', target: id, account: id, detail });
  return describe(changed);
}

/** Throws for a list that the catalog does not have, which would mean list prices. */
async function requirePriceList({ config, store }: Session, name: string): Promise<void> {
  const { createLayerSource } = await import('../../catalog/layer.ts');
  const { readPriceListNames } = await import('../../catalog/read.ts');
  const names = readPriceListNames(config, await createLayerSource(store).read());
  if (names.includes(name)) return;
  const { quote } = await import('../../accounts/accounts.ts');
  const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  throw new OperatorError(`There is no price list ${quote(name)} in the catalog ${config.catalogDir}: ${known}.`);
}

async function suspend(session: Session, id: string): Promise<Answer> {
  return describe(await (await openAccounts(session)).suspend(id));
}

async function resume(session: Session, id: string): Promise<Answer> {
  return describe(await (await openAccounts(session)).resume(id));
}

function describe(account: Account): Answer {
  const { allowance, autoTopup } = account;
  const { enabled, amount, threshold } = autoTopup;
  const text = formatPairs([
    ['account', account.id],
    ['name', account.name],
    ['status', account.status],
    ['created', toTime(account.createdAt)],
    ['requests', describeRequestLimits(account.requests).join('; ') || 'no limits of its own'],
    ['price list', account.priceList ?? 'none'],
    ['each month', allowance ? `${formatMoney(allowance.amount)}: ${allowance.reason}` : 'no grant'],
    ['auto top-up', enabled ? `${formatMoney(amount)} below ${formatMoney(threshold)}` : 'off'],
  ]);
  return { json: toJson(account), text };
}

function toJson({ id, name, status, createdAt, autoTopup, requests, priceList, allowance }: Account) {
  return {
    account_id: id,
    name,
    status,
    created_at: toTime(createdAt),
    requests: requestLimitsJson(requests),
    price_list: priceList ?? null,
    monthly_grant: allowanceJson(allowance),
    auto_topup: {
      enabled: autoTopup.enabled,
      amount_rub: toRub(autoTopup.amount),
      threshold_rub: toRub(autoTopup.threshold),
    },
  };
}
