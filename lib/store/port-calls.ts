// Lists the ports of a store and their calls, and maps over all of them, so that no wrapper misses one.
import type { StorePorts } from './store.ts';

export type PortName = keyof StorePorts;

type Calls = { readonly [Name in PortName]: readonly (keyof StorePorts[Name])[] };

/** The calls that write nothing. A call that is not listed counts as a write. */
export const READS = {
  ledger: [
    'wallet',
    'charge',
    'charges',
    'entry',
    'entries',
    'listChargeEntries',
    'chargedAt',
    'movements',
    'movedSince',
    'paidBefore',
    'hadGrants',
    'grantsCharged',
    'paymentSums',
    'correctionSum',
    'transfers',
    'budgets',
    'budgetPage',
    'orphans',
    'grantsDue',
  ],
  journal: ['size', 'page', 'rows', 'walletPage', 'usedEntries', 'unknownCharges', 'keys'],
  attempts: ['list', 'page', 'search', 'sums', 'unknownCharges'],
  checkpoints: ['changes', 'page'],
  archives: ['list', 'opening', 'openings', 'findWrongMarks'],
  accounts: [
    'get',
    'names',
    'list',
    'summaries',
    'countCreated',
    'page',
    'countPriceLists',
    'allowances',
    'findWrongMarks',
  ],
  keys: ['find', 'get', 'list', 'findAccountsByEnd', 'lastUses', 'owners', 'findWrongMarks'],
  // `open` counts as a write: its caller takes over counting.
  limits: [],
  owners: [],
  settings: ['get', 'list'],
  jobs: ['get', 'open', 'page', 'findWrongMarks'],
  payments: [
    'get',
    'find',
    'list',
    'method',
    'methods',
    'consents',
    'autoTopup',
    'webhook',
    'webhooks',
    'page',
    'hasUnknownRefs',
    'findWrongMarks',
  ],
  media: ['get', 'read', 'latest', 'page'],
  usage: ['progress', 'sums', 'slots', 'readAll', 'findBehind', 'serviceSums', 'serviceDay', 'serviceWeek'],
  users: [
    'get',
    'find',
    'former',
    'formerPage',
    'page',
    'operators',
    'listUserMemberships',
    'listAccountMembers',
    'listOwnerEmails',
    'memberships',
    'findWrongMarks',
  ],
  sessions: ['get', 'list', 'link', 'listInvitations', 'attempts', 'device'],
  auditLog: ['page'],
  alerts: ['get', 'page', 'alarms'],
  idempotency: ['get', 'page'],
  rates: ['list'],
  refusals: ['list', 'page'],
  promos: ['get', 'page', 'uses'],
  papers: ['get', 'find', 'list', 'page'],
  catalogVersions: ['get', 'last', 'page'],
  management: ['findKey', 'getKey', 'listKeys', 'replyPage'],
} as const satisfies Calls;

/** All other calls. */
export const WRITES = {
  ledger: ['apply', 'removeRuns', 'renewLease'],
  journal: [],
  attempts: ['put'],
  checkpoints: ['put'],
  archives: ['begin', 'put', 'drop', 'open', 'remove', 'restoreRows', 'restore'],
  accounts: [
    'create',
    'put',
    'setStatus',
    'setWalletFlags',
    'setAutoTopup',
    'setRequestLimits',
    'setName',
    'setPriceList',
    'setAllowance',
  ],
  keys: ['add', 'revoke', 'replace', 'limit', 'put', 'use'],
  limits: ['hit', 'open', 'merge'],
  owners: ['renew', 'remove'],
  settings: ['set', 'replace'],
  jobs: ['claim', 'change', 'renew', 'put'],
  payments: [
    'create',
    'claim',
    'renew',
    'change',
    'saveMethod',
    'removeMethod',
    'addConsent',
    'changeAutoTopup',
    'addWebhook',
    'setWebhookVerdict',
    'removeOldWebhooks',
    'put',
  ],
  media: ['write', 'clean'],
  usage: ['add', 'put', 'forget'],
  users: [
    'add',
    'addFirstOperator',
    'change',
    'suspend',
    'remove',
    'putFormer',
    'join',
    'setMembership',
    'handOver',
    'leave',
  ],
  sessions: [
    'add',
    'touch',
    'remove',
    'removeUserSessions',
    'addLink',
    'takeLink',
    'removeLinks',
    'count',
    'uncount',
    'forget',
    'putDevice',
    'clean',
  ],
  auditLog: ['append', 'put'],
  alerts: ['change', 'changeAlarm', 'put'],
  idempotency: ['storeReply', 'clean', 'put'],
  rates: ['record', 'put'],
  refusals: ['add', 'put', 'clean'],
  promos: ['add', 'end', 'claim', 'put'],
  papers: ['issue', 'change', 'put'],
  catalogVersions: ['add', 'put'],
  management: [
    'addKey',
    'revokeKey',
    'useKey',
    'putKeys',
    'claimReply',
    'storeReply',
    'dropReply',
    'putReplies',
    'clean',
  ],
} as const satisfies Calls;

/** The reads that return a stream instead of a promise. */
export const STREAMS: { readonly [Name in PortName]?: readonly (keyof StorePorts[Name])[] } = { media: ['read'] };

export type Call = (...args: readonly unknown[]) => Promise<unknown>;
type StreamCall = (...args: readonly unknown[]) => AsyncIterable<unknown>;

/** Identifies a call; calls of the store itself have no port. */
export interface CallName {
  readonly port: string | undefined;
  readonly name: string;
}

/** Whether a call writes nothing. */
export function isRead({ port, name }: CallName): boolean {
  if (port === undefined) return true;
  const reads: Readonly<Record<string, readonly string[]>> = READS;
  return reads[port]?.includes(name) ?? false;
}

/** The names of all ports of a store, even if they are not listed here. */
export function listPortNames(store: object): readonly string[] {
  return Object.entries(store)
    .filter(([, value]) => typeof value === 'object' && value !== null)
    .map(([name]) => name);
}

/** Wraps every call of a store by `wrap` and every stream by `wrapStream`, which by default changes nothing. */
export function mapCalls<S extends object>(
  store: S,
  wrap: (call: Call, name: CallName) => Call,
  wrapStream: (call: StreamCall, name: CallName) => StreamCall = (call) => call,
): S {
  const mapPort = (of: object, port?: string): object =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => {
        const call = { port, name };
        if (typeof value === 'function') return [name, isStream(call) ? wrapStream(value, call) : wrap(value, call)];
        return port === undefined && typeof value === 'object' && value !== null
          ? [name, mapPort(value, name)]
          : [name, value];
      }),
    );
  return mapPort(store) as S;
}

function isStream({ port = '', name }: CallName): boolean {
  const streams: Readonly<Record<string, readonly string[]>> = STREAMS;
  return streams[port]?.includes(name) ?? false;
}
