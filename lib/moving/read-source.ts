// Reads the store of one-api or of one of its descendants: users, keys, channels, groups and prices.
import { OperatorError } from '../base/operator-error.ts';
import type { Micro } from '../money/money.ts';
import { createExchange, type Decimal, type Exchange, parseDecimal } from './amounts.ts';
import { readChannels } from './read-channels.ts';
import { createPriceFinder } from './read-prices.ts';
import type { LeftOut, Program, Source, SourceKey, SourceUser } from './source.ts';
import {
  getFlag,
  getId,
  getObject,
  getText,
  getWhole,
  parseObject,
  type Row,
  readTables,
  type Tables,
} from './tables.ts';

const WANTED: ReadonlySet<string> = new Set(['users', 'tokens', 'channels', 'options', 'user_groups', 'prices']);

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  users: ['id', 'username', 'status', 'quota'],
  tokens: ['id', 'user_id', 'key', 'status', 'name', 'expired_time', 'remain_quota', 'unlimited_quota'],
  channels: ['id', 'type', 'key', 'status', 'name', 'models'],
  options: ['key', 'value'],
};

interface SourceOptions {
  readonly program: Program;
  /** Micro-roubles for a dollar. */
  readonly rate: Micro;
}

/** Throws an `OperatorError` for a file that cannot be read or is not the store of the program. */
export async function readSource(path: string, { program, rate }: SourceOptions): Promise<Source> {
  const tables = await readTables(path, WANTED);
  checkTables(path, program, tables);
  try {
    const options = new Map(listRows(tables, 'options').map((row) => [getText(row, 'key'), getText(row, 'value')]));
    const exchange = createExchange(rate, options.get('QuotaPerUnit'));
    return buildSource(tables, { program, exchange, options });
  } catch (error) {
    throw error instanceof OperatorError ? new OperatorError(`${path}: ${error.message}`) : error;
  }
}

function checkTables(path: string, program: Program, tables: Tables): void {
  for (const [name, columns] of Object.entries(NEEDED)) {
    const table = tables.get(name);
    if (!table) throw new OperatorError(`${path}: is not a store of ${program}: it has no table ${name}`);
    const missing = columns.filter((column) => !table.columns.includes(column));
    if (missing.length > 0) {
      const list = missing.join(', ');
      throw new OperatorError(
        `${path}: the table ${name} lacks ${list}: update ${program}, start it once and try again`,
      );
    }
  }
  const found = identify(tables);
  if (found !== program) {
    throw new OperatorError(
      `${path}: looks like a store of ${found}, whose numbers mean other things: import ${found}`,
    );
  }
}

/** Each program has its own numbers for vendors, so that they must not be mistaken for each other. */
function identify(tables: Tables): Program {
  if (tables.get('tokens')?.columns.includes('model_limits_enabled')) return 'new-api';
  return tables.has('user_groups') || tables.has('prices') ? 'one-hub' : 'one-api';
}

interface Settings {
  readonly program: Program;
  readonly exchange: Exchange;
  readonly options: ReadonlyMap<string, string>;
}

function buildSource(tables: Tables, { program, exchange, options }: Settings): Source {
  const kept = listRows(tables, 'users').filter((row) => !isDeleted(row) && getText(row, 'status') !== '3');
  const users = kept.map(readUser);
  const known = new Set(users.map(({ id }) => id));
  const tokens = listRows(tables, 'tokens');
  const keys = tokens.filter((row) => !isDeleted(row) && known.has(getText(row, 'user_id'))).map(readKey(program));
  const channels = readChannels(listRows(tables, 'channels').filter((row) => !isDeleted(row)));
  const gone = [
    { what: 'deleted users', count: listRows(tables, 'users').length - users.length, why: 'they are deleted there' },
    { what: 'deleted keys', count: tokens.length - keys.length, why: 'they, or their users, are deleted there' },
  ];
  return {
    program,
    exchange,
    users,
    keys,
    channels,
    groups: readGroups(tables, options),
    findPrice: createPriceFinder({ program, options, prices: listRows(tables, 'prices') }),
    leftOut: [...gone, ...listColumns(tables), ...listOtherTables(tables), countLostTexts(tables)].filter(
      ({ count }) => count > 0,
    ),
  };
}

/** What a decoder puts in place of bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd';

function countLostTexts(tables: Tables): LeftOut {
  const values = [...WANTED].flatMap((name) => listRows(tables, name).flatMap((row) => [...row.values()]));
  const count = values.filter((value) => value?.includes(REPLACEMENT)).length;
  const why = 'their characters come as �: dump again in UTF-8, or correct the names here';
  return { what: 'texts that are not UTF-8', count, why };
}

function listRows(tables: Tables, name: string): readonly Row[] {
  return tables.get(name)?.rows ?? [];
}

function isDeleted(row: Row): boolean {
  return getText(row, 'deleted_at') !== '';
}

const ENABLED = '1';
/** From here on: an administrator, or the first one. */
const ADMINISTRATOR = 10n;

function readUser(row: Row): SourceUser {
  const id = getId(row, 'id', 'a user');
  const where = `the user ${id}`;
  return {
    id,
    name: getText(row, 'display_name').trim() || getText(row, 'username').trim(),
    email: getText(row, 'email').trim(),
    quota: getWhole(row, 'quota', where),
    used: getWhole(row, 'used_quota', where),
    isActive: getText(row, 'status') === ENABLED,
    isAdministrator: getWhole(row, 'role', where) >= ADMINISTRATOR,
    group: getText(row, 'group').trim(),
    createdAt: readTime(row, row.has('created_at') ? 'created_at' : 'created_time', where),
  };
}

/** Seconds since the epoch; none if zero or below. */
function readTime(row: Row, column: string, where: string): number | undefined {
  const seconds = getWhole(row, column, where);
  return seconds > 0n && seconds < 100_000_000_000n ? Number(seconds) * 1000 : undefined;
}

const NEVER = -1n;

/** Anything but a later time or -1 is over there, too. */
function readExpiry(row: Row, where: string): number | null {
  const seconds = getWhole(row, 'expired_time', where);
  if (seconds === NEVER) return null;
  return seconds > 0n ? (readTime(row, 'expired_time', where) ?? null) : 1;
}

const EXHAUSTED = '4';

function readKey(program: Program): (row: Row) => SourceKey {
  return (row) => {
    const id = getId(row, 'id', 'a key');
    const where = `the key ${id}`;
    const left = getWhole(row, 'remain_quota', where);
    const status = getText(row, 'status');
    const isLimited = !getFlag(row, 'unlimited_quota') || status === EXHAUSTED;
    return {
      id,
      user: getText(row, 'user_id'),
      name: getText(row, 'name').trim(),
      // PostgreSQL fills `char(48)` up with blanks.
      secret: getText(row, 'key').trim(),
      isActive: status === ENABLED || status === EXHAUSTED,
      expiresAt: readExpiry(row, where),
      budget: isLimited ? (left > 0n && status !== EXHAUSTED ? left : 0n) : null,
      ...readKeyLimits(program, row, where),
      createdAt: readTime(row, 'created_time', where),
    };
  };
}

function readKeyLimits(program: Program, row: Row, where: string): Pick<SourceKey, 'models' | 'addresses'> {
  if (program === 'one-hub') return readSetting(getObject(row, 'setting', where));
  const isNew = program === 'new-api';
  const models = getText(row, isNew ? 'model_limits' : 'models');
  const isLimited = isNew ? getFlag(row, 'model_limits_enabled') : models !== '';
  return {
    models: isLimited ? splitList(models) : null,
    addresses: noneIfEmpty(splitList(getText(row, isNew ? 'allow_ips' : 'subnet'))),
  };
}

/** The limits in the JSON of a key. */
function readSetting(setting: Readonly<Record<string, unknown>>): Pick<SourceKey, 'models' | 'addresses'> {
  const limits = toObject(setting.limits);
  const { enabled: hasModels, models } = toObject(limits.limit_model_setting);
  const { enabled: hasAddresses, whitelist } = toObject(limits.limits_ip_setting);
  return {
    models: hasModels === true ? toTexts(models) : null,
    addresses: hasAddresses === true ? noneIfEmpty(toTexts(whitelist)) : null,
  };
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function toTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function splitList(text: string): readonly string[] {
  return text.split(/[,\s]+/).filter((entry) => entry !== '');
}

/** An empty list of addresses limits nothing there, while one of models that is switched on allows none. */
function noneIfEmpty(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list;
}

function readGroups(tables: Tables, options: ReadonlyMap<string, string>): ReadonlyMap<string, Decimal> {
  const stated = options.get('GroupRatio');
  const entries = tables.has('user_groups')
    ? listRows(tables, 'user_groups').map((row) => [getText(row, 'symbol'), getText(row, 'ratio')] as const)
    : Object.entries(stated ? parseObject(stated, 'the option GroupRatio') : {});
  return new Map(entries.map(([name, ratio]) => [name, readRatio(String(ratio), `the group ${name}`)]));
}

function readRatio(text: string, where: string): Decimal {
  const ratio = parseDecimal(text);
  if (!ratio || ratio.units < 0n)
    throw new OperatorError(`${where}: its ratio is not a number: ${JSON.stringify(text)}`);
  return ratio;
}

/** Columns that have no counterpart here, if they hold something. */
const COLUMNS: readonly (readonly [table: string, columns: readonly string[], what: string, why: string])[] = [
  ['users', ['aff_quota'], 'rewards for invitations that were not taken', 'take them into the balance there first'],
  ['tokens', ['group', 'backup_group'], 'groups of keys', 'a key pays the prices of its account'],
  [
    'channels',
    [
      'proxy',
      'setting',
      'settings',
      'param_override',
      'header_override',
      'model_headers',
      'custom_parameter',
      'system_prompt',
    ],
    'channels with further settings',
    'proxies, headers and parameters are settings of upstreams or routes in the catalog',
  ],
];
const EMPTY = /^(|0|\{\}|null|\[\])$/;

function listColumns(tables: Tables): readonly LeftOut[] {
  return COLUMNS.map(([table, columns, what, why]) => {
    const rows = listRows(tables, table).filter((row) => !isDeleted(row));
    const count = rows.filter((row) => columns.some((column) => !EMPTY.test(getText(row, column).trim()))).length;
    return { what, count, why };
  });
}

const OTHERS: readonly (readonly [table: string, what: string, why: string])[] = [
  ['logs', 'log rows', 'calls of the past stay there; the books begin with the balances'],
  ['quota_data', 'statistics', 'they count calls of the past'],
  ['statistics', 'statistics', 'they count calls of the past'],
  ['statistics_months', 'statistics', 'they count calls of the past'],
  ['redemptions', 'redemption codes', 'what was redeemed is part of the balances; make new codes for the rest'],
  ['top_ups', 'payments', 'what they brought is part of the balances'],
  ['orders', 'payments', 'what they brought is part of the balances'],
  ['payments', 'payment methods', 'set up payments in the catalog'],
  ['midjourneys', 'image jobs', 'they ended, or end there'],
  ['tasks', 'jobs', 'they ended, or end there'],
  ['two_fas', 'second factors', 'people set up theirs when they accept an invitation'],
  ['two_fa_backup_codes', 'second factors', 'people set up theirs when they accept an invitation'],
  ['passkey_credentials', 'passkeys', 'people set a password when they accept an invitation'],
  ['web_authn_credentials', 'passkeys', 'people set a password when they accept an invitation'],
  ['user_subscriptions', 'subscriptions', 'there are none here'],
];

function listOtherTables(tables: Tables): readonly LeftOut[] {
  const sums = new Map<string, LeftOut>();
  for (const [table, what, why] of OTHERS) {
    const count = (tables.get(table)?.count ?? 0) + (sums.get(what)?.count ?? 0);
    sums.set(what, { what, count, why });
  }
  const people = listRows(tables, 'users').length;
  const passwords = { what: 'passwords', count: people, why: 'each person sets one by an invitation link' };
  const linked = ['github_id', 'wechat_id', 'lark_id', 'oidc_id', 'discord_id', 'linux_do_id', 'telegram_id'];
  const accounts = listRows(tables, 'users').filter((row) =>
    linked.some((column) => !/^0?$/.test(getText(row, column))),
  );
  const why = 'there is no sign-in by other services here';
  return [...sums.values(), passwords, { what: 'sign-ins by other services', count: accounts.length, why }];
}
