// The limits that a request itself sets on spending: the most that it may cost, the run that it belongs to, and the end
// user that it is for.
import type { IncomingHttpHeaders } from 'node:http';
import Joi from 'joi';
import { isRecord } from '../base/record.ts';
import type { CallContext } from '../calls/context.ts';
import type { RequestSpending } from '../calls/spending.ts';
import { digestName } from '../ledger/caps.ts';
import { listKeyCaps } from '../ledger/key-caps.ts';
import { RUN_IDS } from '../money/budget.ts';
import { AMOUNT_MAX, parseRub } from '../money/money.ts';
import type { KeyHolder, KeyRow } from '../store/ports/keys.ts';
import { invalidField, optional } from './dialects/fields.ts';

const COST_HINT = 'must be a number of RUB above zero with at most 6 decimals';

/** A field of every paid request. */
export const spendingFields = {
  max_cost_rub: optional(
    Joi.number()
      .unsafe()
      .greater(0)
      .description(
        'A call whose hold, with what may come above it, is more RUB than this is refused with 402, before anything is held.',
      ),
    COST_HINT,
  ),
};

/**
 * Reads the spending of a body: `max_cost_rub`, and the end user in `safety_identifier`, `user` or `metadata.user_id`.
 */
export function readSpending(body: unknown): { readonly spending?: RequestSpending } {
  if (!isRecord(body)) return {};
  const { max_cost_rub: most, safety_identifier: identifier, user, metadata } = body;
  const endUser = [identifier, user, isRecord(metadata) ? metadata.user_id : undefined].find(isName);
  if (most === undefined || most === null) return endUser === undefined ? {} : { spending: { endUser } };
  const maxCost = parseRub(String(most));
  if (maxCost === undefined || maxCost <= 0n) throw invalidField('max_cost_rub', COST_HINT);
  return { spending: { maxCost, ...(endUser !== undefined && { endUser }) } };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

const RUN_HEADER = 'x-run-budget';
/** Chat programs name their user in a header. */
const USER_HEADER = 'x-openwebui-user-id';
const RUN_HINT = 'must be a name of 1 to 128 characters, a semicolon, and the budget in RUB, such as `nightly; 50`';
const RUN_CHARACTERS_MAX = 128;

/** The caps that a call counts in. Throws a 400 fault for an unreadable `x-run-budget`. */
export function readCaps(
  holder: KeyRow & Pick<KeyHolder, 'member'>,
  headers: IncomingHttpHeaders,
  spending: RequestSpending = {},
): Pick<CallContext, 'caps' | 'maxCost'> {
  // The header first: the program sets it, while a body may be passed on as its user wrote it.
  const caps = listKeyCaps(holder, readHeader(headers, USER_HEADER) ?? spending.endUser ?? '');
  const run = readHeader(headers, RUN_HEADER);
  if (run !== undefined) {
    const { name, limit } = readRun(run);
    caps.push({ kind: 'run', id: `${RUN_IDS.first}${holder.account}:${digestName(name)}`, name, limit });
  }
  return {
    ...(caps.length > 0 && { caps }),
    ...(spending.maxCost !== undefined && { maxCost: spending.maxCost }),
  };
}

function readRun(header: string) {
  // Not a regular expression: blanks on both sides of a name make one try every place for each of them.
  const [name = '', rub = '', ...rest] = header.split(';', 3).map((part) => part.trim());
  const limit = parseRub(rub);
  const isRight = name !== '' && name.length <= RUN_CHARACTERS_MAX && rest.length === 0;
  if (!isRight || limit === undefined || limit <= 0n || limit > AMOUNT_MAX) throw invalidField(RUN_HEADER, RUN_HINT);
  return { name, limit };
}

function readHeader(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
