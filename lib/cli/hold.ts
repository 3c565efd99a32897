// `tollgate hold`: sets money aside for services of the operator that run elsewhere, and charges or returns it.
import { type Command, InvalidArgumentError } from 'commander';
import { readCallBudget } from '../api/call-context.ts';
import { readCaps } from '../api/spending.ts';
import { OperatorError, UnknownError } from '../base/operator-error.ts';
import { createServiceHolds, LEASE_SECONDS, SERVICE_HOLD_ID, type ServiceHold } from '../ledger/service-holds.ts';
import type { Usage } from '../money/decide.ts';
import { isExpired } from '../money/key-limits.ts';
import { type Micro, toRub } from '../money/money.ts';
import { UNITS_MAX, USAGE_UNITS, type UsageUnit } from '../money/usage-units.ts';
import type { KeyHolder } from '../store/ports/keys.ts';
import { readAmount, readCount, readPayment, readText } from './arguments.ts';
import { type Answer, formatMoney, formatPairs, toTime } from './output.ts';
import { onStore, type Session } from './session.ts';

/** As long as the name of a model, in whose place it stands. */
const REASON_LENGTH_MAX = 100;
const ID = 'the hold: hold_…';
const RUB = 'RUB, with at most 6 decimals';
const LEASE = `until then it is held, at most ${LEASE_SECONDS.most} from now; then it goes back`;

export function addHoldCommands(program: Command): void {
  const hold = program
    .command('hold')
    .description("money held for the operator's own services: create, show, renew, settle, release");
  hold
    .command('create')
    .description(
      'Holds an amount of a wallet for a service that runs elsewhere. A hold that is neither settled nor released goes back.',
    )
    .argument('<id>', 'the account')
    .argument('<rub>', RUB, readPayment)
    .requiredOption('--reason <text>', 'a short name of the service, which usage is added up by', readReason)
    .option('--lease <seconds>', LEASE, readLease, LEASE_SECONDS.byDefault)
    .option('--key <id>', 'a key of the account, whose budget and caps it counts in')
    .option('--user <name>', 'with --key: the end user it is for', readText)
    .addHelpText('after', '\nExample:\n  tollgate hold create acc_5f0c… 120 --reason gpu-render --lease 3600')
    .action(onStore(create));
  hold
    .command('show')
    .description('Shows a hold.')
    .argument('<hold>', ID)
    .addHelpText('after', '\nExample:\n  tollgate hold show hold_91ab…')
    .action(onStore(show));
  hold
    .command('renew')
    .description('Extends the lease of a hold that has not gone back yet.')
    .argument('<hold>', ID)
    .option('--lease <seconds>', LEASE, readLease, LEASE_SECONDS.byDefault)
    .addHelpText('after', '\nExample:\n  tollgate hold renew hold_91ab… --lease 3600')
    .action(onStore(renew));
  hold
    .command('settle')
    .description('Charges at most what is held, and gives the rest back.')
    .argument('<hold>', ID)
    .argument('<rub>', `${RUB}; 0 charges nothing`, readCost)
    .option('--usage <counts>', `what was used, such as seconds=12: ${USAGE_UNITS.join(', ')}`, readUsage)
    .addHelpText('after', '\nExample:\n  tollgate hold settle hold_91ab… 97.50 --usage seconds=840')
    .action(onStore(settle));
  hold
    .command('release')
    .description('Gives a hold back in full.')
    .argument('<hold>', ID)
    .addHelpText('after', '\nExample:\n  tollgate hold release hold_91ab…')
    .action(onStore(release));
}

export function readReason(text: string): string {
  const reason = readText(text);
  if (reason.length > REASON_LENGTH_MAX)
    throw new InvalidArgumentError(`It has more than ${REASON_LENGTH_MAX} characters.`);
  return reason;
}

function readLease(text: string): number {
  const seconds = readCount(text);
  if (seconds > LEASE_SECONDS.most) throw new InvalidArgumentError(`It must be at most ${LEASE_SECONDS.most}.`);
  return seconds;
}

function readCost(text: string): Micro {
  if (/^0+(\.0+)?$/.test(text)) return 0n;
  const amount = readAmount(text);
  if (amount < 0n) throw new InvalidArgumentError('The amount must not be below zero.');
  return amount;
}

function readUsage(text: string): Usage {
  const counts = text.split(',').map((part) => part.trim().split('='));
  return Object.fromEntries(
    counts.map(([name = '', count = '']) => {
      if (!USAGE_UNITS.includes(name as UsageUnit) || !/^\d{1,10}$/.test(count) || Number(count) > UNITS_MAX) {
        throw new InvalidArgumentError(
          `Give counts of ${USAGE_UNITS.join(', ')}, such as seconds=12, each at most ${UNITS_MAX}.`,
        );
      }
      return [name, Number(count)];
    }),
  );
}

/** Also what the management API does: lib/manage/verbs.ts. */
export const holdActions = { create, show, renew, settle, release };

interface CreateOptions {
  readonly reason: string;
  readonly lease: number;
  readonly key?: string | undefined;
  readonly user?: string | undefined;
}

async function create(session: Session, wallet: string, amount: Micro, options: CreateOptions): Promise<Answer> {
  const { reason, lease, user } = options;
  if (user !== undefined && options.key === undefined)
    throw new InvalidArgumentError('A user needs a key, whose end user it is.');
  const key = options.key === undefined ? undefined : await findKey(session, wallet, options.key);
  const operation = session.caller?.operation;
  const held = await open(session).hold({
    id: operation && `${SERVICE_HOLD_ID}${operation}`,
    wallet,
    key: key?.id ?? session.caller?.id ?? 'command line',
    reason,
    amount,
    leaseMs: lease * 1000,
    ...(key && { ...readCallBudget(key), ...readCaps(key, {}, { endUser: user }) }),
  });
  return describe(held, held.repeated ? 'It had been held before; nothing changed.' : `Held ${formatMoney(amount)}.`);
}

/** Throws unless the key could pay for a call now. */
async function findKey({ store }: Session, account: string, id: string): Promise<KeyHolder> {
  const row = await store.keys.get(id);
  // With the member who owns it, whose cap counts.
  const key = row && (await store.keys.find(row.hash));
  if (key?.account !== account) throw new UnknownError(`The account has no key ${JSON.stringify(id.slice(0, 60))}.`);
  if (key.revokedAt !== null || isExpired(key.limits, Date.now()))
    throw new OperatorError(`The key ${id} is revoked or expired.`);
  if (key.member?.status === 'suspended') throw new OperatorError(`The user who owns the key ${id} is suspended.`);
  return key;
}

async function show(session: Session, id: string): Promise<Answer> {
  return describe(await open(session).get(id));
}

async function renew(session: Session, id: string, { lease }: { readonly lease: number }): Promise<Answer> {
  return describe(await open(session).renew(id, lease * 1000), 'Renewed.');
}

async function settle(
  session: Session,
  id: string,
  amount: Micro,
  { usage = {} }: { readonly usage?: Usage | undefined },
): Promise<Answer> {
  const held = await open(session).settle(id, amount, usage);
  return describe(
    held,
    held.repeated ? 'It had been settled before; nothing changed.' : `Charged ${formatMoney(amount)}.`,
  );
}

async function release(session: Session, id: string): Promise<Answer> {
  const held = await open(session).release(id);
  return describe(held, held.repeated ? 'It had been released before; nothing changed.' : 'Released.');
}

function open({ store, caller }: Session) {
  return createServiceHolds({ store, isReal: caller?.isReal ?? true });
}

function describe({ charge, wallet, repeated }: ServiceHold, line?: string): Answer {
  const { id, state, model: reason, key } = charge;
  const held = state === 'held' ? charge.reserved : 0n;
  const until = toTime(charge.lease);
  const text = formatPairs([
    ['hold', id],
    ['account', charge.wallet],
    ['key id', key],
    ['reason', reason],
    ['state', state],
    ['held', formatMoney(held)],
    ['charged', formatMoney(charge.charged)],
    ['until', until ?? '-'],
    ['balance', formatMoney(wallet.avail)],
  ]);
  const json = {
    hold_id: id,
    account_id: charge.wallet,
    key_id: key,
    reason,
    state,
    held_rub: toRub(held),
    charged_rub: toRub(charge.charged),
    balance_rub: toRub(wallet.avail),
    lease_until: until,
    repeated,
  };
  return { json, text: line === undefined ? text : `${line}\n${text}` };
}
