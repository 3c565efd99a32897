// `tollgate management-key`: makes, lists and revokes keys of the management API.
import type { Command } from 'commander';
import { isActiveManagementKey, type NewManagementKey, OPERATOR_SCOPES } from '../accounts/management-keys.ts';
import { type Answer, formatPairs, formatTable, toTime } from '../manage/answer.ts';
import { readText, readTime } from '../manage/arguments.ts';
import { COMMAND_LINE, recordAction } from '../manage/audited-action.ts';
import { findAccount, type Session } from '../manage/session.ts';
import type { ManagementKey } from '../store/ports/management.ts';
import { readList } from './request-limits.ts';
import { ID_OR_NAME, onStore } from './session.ts';

export function addManagementKeyCommands(program: Command): void {
  const key = program.command('management-key').description('keys of the management API: create, list, revoke');
  key
    .command('create')
    .description('Makes a key and shows it once; only its hash is stored. With --account: the key of an owner.')
    .requiredOption('--name <name>', 'a name for people to read; the audit log has it', readText)
    .option('--scopes <list>', `what it may do: ${OPERATOR_SCOPES.join(',')}`, readList)
    .option('--account <account>', `instead of scopes, the only account that it is for: ${ID_OR_NAME}`)
    .option('--expires <time>', 'when it expires, such as 2026-12-31', readTime)
    .option('--addresses <list>', 'where requests may come from, such as 192.0.2.7,10.0.0.0/8', readList)
    .addHelpText('after', '\nExample:\n  tollgate management-key create --name billing --scopes accounts,topup')
    .action(onStore(create));
  key
    .command('list')
    .description('Lists the keys, oldest first, including revoked ones.')
    .addHelpText('after', '\nExample:\n  tollgate management-key list')
    .action(onStore(list));
  key
    .command('revoke')
    .description('Revokes a key for good: at once it gets 401.')
    .argument('<id>', 'the key, as "management-key list" shows it')
    .addHelpText('after', '\nExample:\n  tollgate management-key revoke mk_83d1…')
    .action(onStore(revoke));
}

interface CreateOptions {
  readonly name: string;
  readonly scopes?: readonly string[];
  readonly account?: string;
  readonly expires?: number;
  readonly addresses?: readonly string[];
}

async function create(session: Session, options: CreateOptions): Promise<Answer> {
  const { name, scopes = [], expires: expiresAt, addresses } = options;
  const account = options.account === undefined ? null : (await findAccount(session, options.account)).id;
  const wanted: NewManagementKey = { name, scopes, account, expiresAt, addresses, createdBy: COMMAND_LINE };
  const { id, key } = await (await open(session)).create(wanted);
  const detail = { name, scopes: account === null ? scopes : ['account'] };
  await recordAction(session, {
    action: 'management_key.create',
    target: id,
    detail,
    ...(account !== null && { account }),
  });
  const text = formatPairs([
    ['key id', id],
    ['key', key],
  ]);
  return {
    json: { key_id: id, key },
    text: `${text}\nSave the key now: it is not stored and cannot be shown again.`,
  };
}

async function list(session: Session): Promise<Answer> {
  const keys = await (await open(session)).list();
  const rows = keys.map((key) => [
    key.id,
    `…${key.last4}`,
    findStatus(key),
    toTime(key.lastUsedAt) ?? 'never',
    key.account ?? key.scopes.join(','),
    key.name,
  ]);
  const head = ['key id', 'key', 'status', 'last used', 'scopes or account', 'name'];
  return {
    json: { keys: keys.map(toJson) },
    text: rows.length === 0 ? 'No keys.' : formatTable(head, rows),
  };
}

async function revoke(session: Session, id: string): Promise<Answer> {
  const keys = await open(session);
  const { account } = await keys.get(id);
  const repeated = (await keys.revoke(id)) === 'exists';
  if (!repeated)
    await recordAction(session, { action: 'management_key.revoke', target: id, ...(account !== null && { account }) });
  return {
    json: { key_id: id, status: 'revoked', repeated },
    text: repeated ? `Key ${id} was already revoked.` : `Key ${id} is revoked.`,
  };
}

async function open({ store, config }: Session) {
  const { createManagementKeys } = await import('../accounts/management-keys.ts');
  return createManagementKeys({ store, keyPrefix: config.keyPrefix });
}

function findStatus(key: ManagementKey): 'active' | 'expired' | 'revoked' {
  if (key.revokedAt !== null) return 'revoked';
  return isActiveManagementKey(key, Date.now()) ? 'active' : 'expired';
}

function toJson(key: ManagementKey) {
  return {
    key_id: key.id,
    name: key.name,
    last4: key.last4,
    status: findStatus(key),
    scopes: key.scopes,
    account_id: key.account,
    addresses: key.addresses,
    created_at: toTime(key.createdAt),
    expires_at: toTime(key.expiresAt),
    revoked_at: toTime(key.revokedAt),
    last_used_at: toTime(key.lastUsedAt),
  };
}
