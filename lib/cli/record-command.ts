// The line of a command in the audit log: those that are verbs of the management API have the same one.
import type { Command } from 'commander';
import { type Answer, toTime } from '../manage/answer.ts';
import { findChangedAccount, readId, recordVerb } from '../manage/audited-action.ts';
import { REMOVED } from '../manage/removed.ts';
import type { Session } from '../manage/session.ts';
import { VERBS } from '../manage/verbs.ts';
import { formatRub } from '../money/money.ts';

/** Nothing for a command that changes nothing, that writes its line itself, or whose change was made before. */
export async function recordCommand(session: Session, command: Command, { json }: Answer): Promise<void> {
  const words = nameCommand(command);
  const action = VERBS.find((verb) => verb.words === words)?.audit;
  if (action === undefined || ('repeated' in json && json.repeated === true)) return;
  const ids = { key: 'key_id', payment: 'payment_id', hold: 'hold_id', account: 'account_id' };
  const named = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, readId(json, [id])]));
  const account = await findChangedAccount(session.store, named);
  await recordVerb(session, action, {
    json,
    account,
    detail: describeInput(command, [...Object.values(named), account]),
  });
}

/** Without the name of the program. */
function nameCommand(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameCommand(parent)} ${command.name()}` : command.name();
}

/** What was typed, without the ids that the line names anyway. */
function describeInput(command: Command, ids: readonly (string | undefined)[]): object {
  const words = command.registeredArguments.map((argument, at) => [argument.name(), command.args[at]] as const);
  const input = { ...Object.fromEntries(words.filter(([, word]) => !ids.includes(word))), ...command.opts() };
  return JSON.parse(JSON.stringify(input, describeValue));
}

function describeValue(name: string, value: unknown): unknown {
  if (value === REMOVED) return 'no limit';
  if (typeof value === 'bigint') return formatRub(value);
  return name === 'expires' && typeof value === 'number' ? toTime(value) : value;
}
