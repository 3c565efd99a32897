// What a client of the management API gets for an error of an action: the message of the command, as a fault.

import { type Fault, fault, isFault } from '../../base/faults.ts';
import { InvalidInputError, OperatorError, UnknownError } from '../../base/operator-error.ts';
import { StoreError } from '../../store/store.ts';
import { invalidField } from '../dialects/fields.ts';

/** Options of commands, under the names that the API has for them. */
const FIELDS: Readonly<Record<string, string>> = {
  budget: 'budget_rub',
  'user-budget': 'user_budget_rub',
  'user-reset': 'user_reset',
  cap: 'cap_rub',
  credit: 'credit_rub',
  won: 'ended: "won"',
  lost: 'ended: "lost"',
};

/** The message as the end of a sentence, with fields in place of options. */
function toHint(message: string): string {
  return message
    .replace(/^error: /, '')
    .replace(/;? see --help/, '')
    .replace(/--([a-z-]+)/g, (_, option: string) => `\`${FIELDS[option] ?? option}\``)
    .replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase())
    .replace(/\.$/, '');
}

/** The fault for an error of an action; `changes`: it may have changed something before it failed. */
export function toManagementFault(error: unknown, { changes }: { readonly changes: boolean }): Fault {
  if (isFault(error)) return error;
  if (error instanceof UnknownError) return fault('no_such_object', { hint: toHint(error.message) });
  if (error instanceof OperatorError) {
    return fault('change_refused', { hint: toHint(error.message), ...(!changes && { reads: true }) });
  }
  if (error instanceof InvalidInputError) return invalidField('request', toHint(error.message));
  if (error instanceof StoreError) {
    return fault(changes && error.applied === 'unknown' ? 'change_unconfirmed' : 'store_unavailable', {}, error);
  }
  return fault('internal', {}, error);
}

/** Whether the error says that the action changed nothing. */
export function hasChangedNothing(error: unknown): boolean {
  if (error instanceof StoreError) return error.applied === 'no';
  if (error instanceof OperatorError || error instanceof InvalidInputError) return true;
  return isFault(error) && error.output.statusCode < 500;
}
