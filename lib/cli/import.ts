// `tollgate import`: moves the accounts, balances, keys, channels and prices of another gateway in.

import { join } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../base/operator-error.ts';
import type { Config } from '../config.ts';
import { type Answer, formatMoney, formatPairs, formatTable } from '../manage/answer.ts';
import { readPayment } from '../manage/arguments.ts';
import { createLinkAnswer, recordAction } from '../manage/audited-action.ts';
import type { Session } from '../manage/session.ts';
import { formatRub, type Micro, toRub } from '../money/money.ts';
import type { Decimal } from '../moving/amounts.ts';
import type { CatalogReport } from '../moving/catalog-files.ts';
import type { MovedAccount } from '../moving/move-in.ts';
import { type LeftOut, PROGRAMS, type Program } from '../moving/source.ts';
import type { AuditRow } from '../store/ports/audit-log.ts';
import type { Store } from '../store/store.ts';
import { walkFrom } from '../store/walks.ts';
import { withBar } from './progress.ts';
import { onConfig } from './session.ts';

interface ImportFlags {
  readonly rate: Micro;
  readonly dryRun?: boolean;
  readonly invite?: boolean;
  readonly installation?: string;
  readonly catalogOut?: string;
  readonly completionRatio?: Decimal;
}

export function addImportCommand(program: Command): void {
  program
    .command('import')
    .description(
      'Moves the accounts of another gateway in: balances, keys, which go on working, price lists, upstreams and models. ' +
        'Stop that gateway first. Repeating the command changes nothing; if it is interrupted, repeat it to continue.',
    )
    .argument('<program>', `whose store it is: ${PROGRAMS.join(', ')}`, readProgram)
    .argument('<file>', 'its SQLite file, or a dump by sqlite3, mysqldump or pg_dump')
    .requiredOption('--rate <rub>', 'what a dollar of balance or price becomes in RUB, such as 81.4', readPayment)
    .option('--dry-run', 'only report; write nothing')
    .option('--installation <name>', 'tells installations apart if several of a program move in', readInstallation)
    .option('--catalog-out <file>', 'the catalog file that is written; imported.json in CATALOG_DIR by default')
    .option(
      '--completion-ratio <number>',
      'output price divided by input price, where the store does not state it',
      readRatio,
    )
    .option('--invite', 'print a one-time link for each user with an email address, to become owner of the account')
    .addHelpText('after', '\nExample:\n  tollgate import one-api one-api.db --rate 81.4 --dry-run')
    .action(
      onConfig((config, from: Program, file: string, flags: ImportFlags) =>
        withStore(config, flags, (store) => importStore({ store, config }, from, file, flags)),
      ),
    );
}

/** A dry run writes nothing, so that it creates no store either. */
async function withStore(
  config: Config,
  { dryRun: readOnly = false }: ImportFlags,
  work: (store: Store | undefined) => Promise<Answer>,
): Promise<Answer> {
  const { describeStore, openOwnStore } = await import('../store/open.ts');
  const opened = await openOwnStore(config, { inProcess: true, readOnly }).catch((error: unknown) => {
    if (readOnly && error instanceof OperatorError && error.message.includes('no Tollgate store')) return undefined;
    throw error;
  });
  try {
    return { ...(await work(opened)), store: describeStore(config.databaseUrl) };
  } finally {
    // The result is durable: a store that does not close cleanly must not turn it into a failure.
    await opened?.close().catch(() => {});
  }
}

function readProgram(text: string): Program {
  const found = PROGRAMS.find((name) => name === text);
  if (!found) throw new InvalidArgumentError(`Known are ${PROGRAMS.join(', ')}.`);
  return found;
}

function readInstallation(text: string): string {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(text)) {
    throw new InvalidArgumentError('Give at most 40 lower-case letters, digits and dashes.');
  }
  return text;
}

function readRatio(text: string): Decimal {
  const match = /^(\d{1,6})(?:\.(\d{1,6}))?$/.exec(text);
  const [, whole = '', fraction = ''] = match ?? [];
  const units = BigInt(`0${whole}${fraction}`);
  if (units === 0n) throw new InvalidArgumentError('Give a number above zero, such as 4 or 1.5.');
  return { units, scale: fraction.length };
}

/** Only a dry run has no store. */
interface Place extends Omit<Session, 'store'> {
  readonly store: Store | undefined;
}

async function importStore(place: Place, program: Program, file: string, flags: ImportFlags): Promise<Answer> {
  const { store, config } = place;
  const { readSource } = await import('../moving/read-source.ts');
  const { buildCatalogParts } = await import('../moving/catalog-parts.ts');
  const { DEFAULT_FILE, listTakenNames, pickLists, writeCatalogFiles } = await import('../moving/catalog-files.ts');
  const { moveAccounts } = await import('../moving/move-in.ts');
  const source = await readSource(file, { program, rate: flags.rate });
  const out = flags.catalogOut ?? join(config.catalogDir, DEFAULT_FILE);
  const parts = buildCatalogParts(source, {
    completionRatio: flags.completionRatio,
    taken: listTakenNames(config, out),
  });
  const isDry = flags.dryRun === true;
  const picked = pickLists(config, parts, out);
  const catalog = await writeCatalogFiles(config, parts, { out, isDry });
  const installation = flags.installation ?? program;
  const accounts: MovedAccount[] = [];
  const links = new Map<string, string>();
  const options = { installation, isDry, lists: picked.lists, now: Date.now() };
  for await (const account of moveAccounts(store, source, options)) {
    accounts.push(account);
    if (isDry || !store) continue;
    const session = { store, config };
    const { id, user, after } = account;
    if (await mustRecord(store, account)) await recordMove(session, { installation, file, id, user: user.id, after });
    const link = flags.invite ? await invite(session, account) : undefined;
    if (link !== undefined) links.set(id, link);
  }
  const ledger = isDry || !store ? undefined : await verify(store);
  const leftOut = [...source.leftOut, ...parts.leftOut, ...picked.leftOut];
  return describe({ file, program, flags, accounts, links, leftOut, catalog, ledger });
}

interface Move {
  readonly installation: string;
  readonly file: string;
  readonly id: string;
  readonly user: string;
  readonly after: Micro | null;
}

const RECORDED = 'account.import';
const LINES_PER_PAGE = 200;

/** A run may have died after an account moved in, before it was recorded. */
async function mustRecord({ auditLog }: Store, { state, id: account }: MovedAccount): Promise<boolean> {
  if (state !== 'there') return state === 'moved';
  const limit = LINES_PER_PAGE;
  const read = (last?: AuditRow) => auditLog.page({ account, limit, ...(last && { before: last.seq }) });
  for await (const lines of walkFrom(limit, read)) if (lines.some(({ action }) => action === RECORDED)) return false;
  return true;
}

async function recordMove(session: Session, { installation, id, user, after }: Move): Promise<void> {
  const detail = { from: installation, user, rub: formatRub(after ?? 0n) };
  await recordAction(session, { action: RECORDED, target: id, account: id, detail });
}

/** Undefined: the user has no email address, may not use the account, or owns it already. */
async function invite(session: Session, { id, user, state }: MovedAccount): Promise<string | undefined> {
  const { readEmail } = await import('../users/people.ts');
  const email = readEmail(user.email);
  if (email === undefined || !user.isActive || state === 'refused') return undefined;
  const { users } = session.store;
  const known = await users.find(email);
  if (known?.status === 'suspended') return undefined;
  if (known && (await users.listUserMemberships(known.id)).some(({ account }) => account === id)) return undefined;
  await recordAction(session, { action: 'owner.invite', target: email, account: id });
  const { json } = await createLinkAnswer(session, { purpose: 'invite', email, account: id });
  return (json as { url: string }).url;
}

async function verify(store: Store) {
  const { verifyLedger } = await import('../ledger/audit.ts');
  return withBar((show) => verifyLedger(store, show));
}

interface Told {
  readonly file: string;
  readonly program: Program;
  readonly flags: ImportFlags;
  readonly accounts: readonly MovedAccount[];
  readonly links: ReadonlyMap<string, string>;
  readonly leftOut: readonly LeftOut[];
  readonly catalog: CatalogReport;
  readonly ledger: Awaited<ReturnType<typeof verify>> | undefined;
}

function describe(told: Told): Answer {
  const { accounts, ledger, catalog } = told;
  const wrong = accounts.filter((account) => !isEqual(account));
  const failed = wrong.length > 0 || ledger?.ok === false || catalog.refusal !== undefined;
  return { json: toJson(told, failed), text: toLines(told, wrong).join('\n'), failed };
}

function isEqual({ before, after, state }: MovedAccount): boolean {
  return state !== 'refused' && before === after;
}

function toJson({ file, program, flags, accounts, links, leftOut, catalog, ledger }: Told, failed: boolean): object {
  const rows = accounts.map(({ user, id, name, before, after, state, priceList, keys, notes }) => ({
    ...{ user: user.id, account_id: id, name, email: user.email || undefined, state },
    ...{ before_rub: toRub(before), after_rub: after === null ? null : toRub(after), equal: before === after },
    ...{ before: formatRub(before), after: after === null ? null : formatRub(after) },
    ...{ suspended: user.isActive ? undefined : true, price_list: priceList, invitation: links.get(id) },
    keys: keys.map((key) => ({ key_id: key.id, name: key.name, state: key.state, notes: key.notes })),
    notes,
  }));
  const { file: written, variables, state, upstreams, models, priceLists, refusal } = catalog;
  return {
    ...{ ok: !failed, program, file, rate_rub: toRub(flags.rate), dry_run: flags.dryRun === true, accounts: rows },
    sums: {
      accounts: accounts.length,
      before: formatRub(sum(accounts, 'before')),
      after: formatRub(sum(accounts, 'after')),
    },
    left_out: leftOut,
    catalog: { file: written, variables, state, upstreams, models, price_lists: priceLists, refusal: refusal ?? null },
    ledger: ledger ? { ok: ledger.ok, wallets: ledger.wallets, entries: ledger.entries } : null,
  };
}

function sum(accounts: readonly MovedAccount[], column: 'before' | 'after'): Micro {
  return accounts.reduce((total, account) => total + (account[column] ?? 0n), 0n);
}

function toLines({ flags, accounts, links, leftOut, catalog, ledger }: Told, wrong: readonly MovedAccount[]): string[] {
  const rows = accounts.map(({ user, id, name, before, after, state, keys, priceList }) => [
    ...[user.id, id, name, formatRub(before), after === null ? '-' : formatRub(after)],
    ...[
      before === after ? 'yes' : 'NO',
      String(keys.length),
      priceList ?? '',
      user.isActive ? state : `${state}, suspended`,
    ],
  ]);
  const head = ['User', 'Account', 'Name', ' RUB before', ' RUB after', 'Equal', ' Keys', 'Price list', 'State'];
  const keys = accounts.flatMap((account) => account.keys);
  const count = (state: string) => String(keys.filter((key) => key.state === state).length);
  return [
    ...(rows.length > 0 ? [formatTable(head, rows)] : ['No accounts.']),
    '',
    formatPairs([
      [
        'rate',
        `1 dollar is ${formatMoney(flags.rate)}; each balance is rounded to a micro-rouble, half away from zero`,
      ],
      ['accounts', `${accounts.length}, ${accounts.length - wrong.length} of them with an equal balance`],
      ['balances', `${formatMoney(sum(accounts, 'before'))} before, ${formatMoney(sum(accounts, 'after'))} after`],
      [
        'keys',
        `${count('moved')} moved, ${count('there')} there before, ${count('planned')} planned, ${count('left out')} left out`,
      ],
      ['catalog', describeCatalog(catalog)],
      ['ledger', describeLedger(ledger)],
    ]),
    ...section('Notes', listNotes(accounts)),
    ...section(
      'Left out',
      leftOut.map(({ what, count: number, why }) => `${what} (${number}): ${why}`),
    ),
    ...section(
      'Invitations, each valid for a week',
      accounts.flatMap(({ id, user }) => (links.has(id) ? [`${user.email}  ${links.get(id)}`] : [])),
    ),
    ...(flags.dryRun ? ['', 'Nothing was written.'] : []),
    ...(links.size === 0 && !flags.dryRun ? ['', NO_INVITATIONS] : []),
  ];
}

const NO_INVITATIONS =
  'Passwords do not come over: "tollgate user invite <account> <email>" prints a link for an owner, --invite one for each.';

function listNotes(accounts: readonly MovedAccount[]): string[] {
  return accounts.flatMap(({ id, notes, keys }) => [
    ...notes.map((note) => `${id}: ${note}`),
    ...keys.flatMap((key) => key.notes.map((note) => `${id}, key ${key.id} ${key.name}: ${note}`)),
  ]);
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function describeCatalog({ file, variables, state, upstreams, models, priceLists, refusal }: CatalogReport): string {
  if (state === 'there') return `${file} exists, and stays as it is; move it away to have it written again`;
  const counts = `${upstreams} upstreams, ${models} models, ${priceLists} price lists`;
  const keys = variables === undefined ? '' : `; keys of upstreams in ${variables}`;
  const problem = refusal === undefined ? '' : `; a start would refuse the catalog now: ${refusal}`;
  return `${file} ${state === 'planned' ? 'would have' : 'has'} ${counts}${keys}${problem}`;
}

function describeLedger(ledger: Told['ledger']): string {
  if (!ledger) return 'not verified';
  const { ok, wallets, entries, problems } = ledger;
  const [first] = problems;
  if (!ok) return `DOES NOT ADD UP: wallet ${first?.wallet}, ${first?.problem}; see "tollgate ledger verify"`;
  return `adds up: ${wallets} wallets, ${entries} entries`;
}
