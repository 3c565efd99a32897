// All contents of a store through its ports, as one document of rows by id.
import type { Store } from '../../lib/store/store.ts';

export type Rows = Readonly<Record<string, unknown>>;
export type Contents = Readonly<Record<string, Rows>>;

const ALL = 10_000;

/** As JSON has it: amounts are text with an n. */
export async function readContents(store: Store): Promise<Contents> {
  const accounts = await store.accounts.page({ limit: ALL });
  const ids = accounts.map(({ id }) => id);
  const contents = {
    accounts: byId(accounts),
    ...(await readLedger(store, ids)),
    ...(await readPayments(store, ids)),
    ...(await readPeople(store)),
    jobs: byId(await store.jobs.page({ limit: ALL })),
    media: byId(await store.media.page({ limit: ALL })),
    repeats: byId(await store.idempotency.page({ limit: ALL })),
    settings: byName(await store.settings.list()),
    catalogVersions: Object.fromEntries(
      (await store.catalogVersions.page({ limit: ALL })).map((row) => [String(row.seq), row]),
    ),
    papers: Object.fromEntries((await store.papers.page({ limit: ALL })).map((row) => [`${row.kind} ${row.id}`, row])),
    promoCodes: Object.fromEntries((await store.promos.page({ after: '', limit: ALL })).map((row) => [row.code, row])),
    promoUses: Object.fromEntries(
      (await store.promos.uses({ limit: ALL })).map((row) => [`${row.code} ${row.account}`, row]),
    ),
    rates: Object.fromEntries((await store.rates.list()).map((row) => [`${row.currency}:${row.seq}`, row])),
    managementKeys: byId(await store.management.listKeys()),
    managementReplies: byId(await store.management.replyPage({ limit: ALL })),
    alerts: await ofEach(ids, (id) => store.alerts.get(id)),
    alarms: await ofEach(ids, (id) => store.alerts.alarms(id)),
    ...(await readUsage(store, ids)),
    archives: byId(await store.archives.list()),
    openings: await ofEach(ids, (id) => store.archives.opening(id)),
  };
  return JSON.parse(JSON.stringify(contents, (_, value) => (typeof value === 'bigint' ? `${value}n` : value)));
}

async function readLedger({ ledger, keys, checkpoints }: Store, ids: readonly string[]) {
  const entries = await Promise.all(ids.map((id) => ledger.entries(id, { limit: ALL })));
  const charges = (await Promise.all(ids.map((id) => ledger.charges(id, { limit: ALL })))).flat();
  const rows = (await Promise.all(ids.map((id) => keys.list(id)))).flat();
  const holders = await Promise.all(rows.map(({ hash }) => keys.find(hash)));
  const verified = await checkpoints.page('', ALL);
  return {
    wallets: await ofEach(ids, (id) => ledger.wallet(id)),
    entries: Object.fromEntries(entries.flat().map((entry) => [entry.opId, entry])),
    charges: byId(charges),
    entriesOfCharges: await ofEach(
      charges.map(({ id }) => id),
      async (id) => (await ledger.listChargeEntries(id)).map(({ opId }) => opId),
    ),
    keys: byId(holders.flatMap((key) => key ?? [])),
    budgets: Object.fromEntries((await ledger.budgets(rows.map(({ id }) => id))).map((row) => [row.key, row])),
    checkpoints: Object.fromEntries(verified.map(({ id, checkpoint }) => [id, checkpoint ?? null])),
  };
}

async function readUsage({ usage }: Store, ids: readonly string[]) {
  const whole = await Promise.all(ids.map(async (wallet) => ({ wallet, ...(await usage.readAll(wallet)) })));
  const hours = whole.flatMap(({ wallet, hours }) => hours.map((row) => ({ wallet, ...row })));
  const days = whole.flatMap(({ wallet, days }) => days.map((row) => ({ wallet, ...row })));
  const weeks = whole.flatMap(({ wallet, weeks }) => weeks.map((row) => ({ wallet, ...row })));
  const name = (at: number, { wallet, key, model, kind }: Omit<(typeof hours)[number], 'hour'>) =>
    [wallet, at, key, model, kind].join(' ');
  return {
    usageCursors: Object.fromEntries(whole.map(({ wallet, cursor }) => [wallet, cursor])),
    usageHours: Object.fromEntries(hours.map((row) => [name(row.hour, row), row])),
    usageDays: Object.fromEntries(days.map((row) => [name(row.day, row), row])),
    usageWeeks: Object.fromEntries(weeks.map((row) => [name(row.week, row), row])),
  };
}

async function readPayments({ payments }: Store, ids: readonly string[]) {
  const found = await payments.page('payments', { limit: ALL });
  return {
    payments: byId(found),
    paymentsByRef: await ofEach(
      found.flatMap(({ ref }) => ref ?? []),
      async (ref) => (await payments.find('till', ref))?.id,
    ),
    methods: byId(await payments.page('methods', { limit: ALL })),
    consents: byId(await payments.page('consents', { limit: ALL })),
    autoTopups: await ofEach(ids, (id) => payments.autoTopup(id)),
    notices: byId(await payments.webhooks({ limit: ALL })),
  };
}

async function readPeople({ users, sessions, auditLog }: Store) {
  const people = await users.page({ limit: ALL });
  const ids = people.map(({ id }) => id);
  return {
    users: byId(people),
    memberships: await ofEach(ids, (id) => users.listUserMemberships(id)),
    sessions: await ofEach(ids, (id) => sessions.list(id)),
    links: await ofEach(LINKS, (hash) => sessions.link(hash)),
    attempts: await ofEach(ATTEMPTS, (name) => sessions.attempts(name)),
    auditLog: Object.fromEntries((await auditLog.page({ limit: ALL })).map((row) => [row.seq, row])),
  };
}

/** What cannot be listed, by the names that the old stores have. */
export const LINKS: readonly string[] = ['setup', 'operator', 'reset', 'invite', 'verify', 'demo'].map(
  (purpose) => `link_${purpose}`,
);
export const ATTEMPTS: readonly string[] = ['sign-in 192.0.2.7', 'sign-in owner@example.com'];

async function ofEach(ids: readonly string[], read: (id: string) => Promise<unknown>): Promise<Rows> {
  return Object.fromEntries(await Promise.all(ids.map(async (id) => [id, (await read(id)) ?? null])));
}

function byId(rows: readonly { readonly id: string }[]): Rows {
  return Object.fromEntries(rows.map((row) => [row.id, row]));
}

function byName(rows: readonly { readonly name: string }[]): Rows {
  return Object.fromEntries(rows.map((row) => [row.name, row]));
}
