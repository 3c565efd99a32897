// The suite every store passes: it says in tests what the doc comments of `lib/store/store.ts` promise.
import { accountContract } from './accounts.ts';
import { alertContract } from './alerts.ts';
import { archiveContract } from './archives.ts';
import { attemptContract } from './attempts.ts';
import { bankCreditContract } from './bank-credits.ts';
import { budgetContract } from './budgets.ts';
import { capContract } from './caps.ts';
import { catalogVersionContract } from './catalog-versions.ts';
import { chargeListContract } from './charge-list.ts';
import { changesContract, checkpointContract } from './checkpoints.ts';
import { clockSetBackContract } from './clock-set-back.ts';
import { type StoreContext, type StoreKind, useStore } from './context.ts';
import { exposureContract } from './exposure.ts';
import { grantContract } from './grants.ts';
import { idempotencyContract } from './idempotency.ts';
import { jobContract } from './jobs.ts';
import { journalContract } from './journal.ts';
import { keyContract } from './keys.ts';
import { ledgerContract } from './ledger.ts';
import { ledgerReadContract } from './ledger-reads.ts';
import { lifecycleContract } from './lifecycle.ts';
import { limitContract } from './limits.ts';
import { managementContract } from './management.ts';
import { mediaContract } from './media.ts';
import { memberContract } from './members.ts';
import { modelContract } from './model.ts';
import { newKeysContract } from './new-keys.ts';
import { ownerContract } from './owners.ts';
import { paperContract } from './papers.ts';
import { paybackContract } from './payback.ts';
import { paymentContract } from './payments.ts';
import { peopleContract } from './people.ts';
import { processContract } from './processes.ts';
import { promoContract } from './promos.ts';
import { rateContract } from './rates.ts';
import { refusalContract } from './refusals.ts';
import { settingContract } from './settings.ts';
import { signinContract } from './signins.ts';
import { transferContract } from './transfers.ts';
import { usageContract } from './usage.ts';
import { webhookContract } from './webhooks.ts';

/** Of these, money takes its way through each store's own code. */
const TOGETHER: Readonly<Record<string, (context: StoreContext) => void>> = {
  payments: paymentContract,
  paybacks: paybackContract,
  attempts: attemptContract,
  'key budgets': budgetContract,
  caps: capContract,
  grants: grantContract,
  accounts: accountContract,
  keys: keyContract,
  'new keys': newKeysContract,
  'promo codes': promoContract,
  'bank payments': bankCreditContract,
  'money of all wallets': transferContract,
  'calls without a cap': exposureContract,
  idempotency: idempotencyContract,
  // Each store adds up in a language of its own.
  usage: usageContract,
};

/** Of these there is none in a balance. */
const WITHOUT_MONEY: Readonly<Record<string, (context: StoreContext) => void>> = {
  webhooks: webhookContract,
  'charge lists': chargeListContract,
  limits: limitContract,
  owners: ownerContract,
  'a clock set back': clockSetBackContract,
  settings: settingContract,
  rates: rateContract,
  refusals: refusalContract,
  papers: paperContract,
  'catalog versions': catalogVersionContract,
  management: managementContract,
  people: peopleContract,
  members: memberContract,
  alerts: alertContract,
  'sessions and links': signinContract,
};

/** What every balance depends on. */
export function storeContract(kind: StoreKind): void {
  describeParts(kind, TOGETHER);
  describe(`${kind.name}: ledger`, () => ledgerContract(kind));
  describe(`${kind.name}: ledger against the model`, () => modelContract(kind));
  describe(`${kind.name}: journal`, () => journalContract(kind));
  describe(`${kind.name}: jobs`, () => jobContract(kind));
  describe(`${kind.name}: several processes`, () => processContract(kind));
}

/** In a file of its own for a store that takes longer: both parts then run side by side. */
export function furtherContract(kind: StoreKind): void {
  describeParts(kind, WITHOUT_MONEY);
  describe(`${kind.name}: ledger reads`, () => ledgerReadContract(kind));
  describe(`${kind.name}: audit checkpoints`, () => checkpointContract(kind));
  describe(`${kind.name}: changes since the audit`, () => changesContract(kind));
  describe(`${kind.name}: archives`, () => archiveContract(kind));
  describe(`${kind.name}: media`, () => mediaContract(kind));
  describe(`${kind.name}: lifecycle`, () => lifecycleContract(kind));
}

/** In one database. */
function describeParts(kind: StoreKind, parts: typeof TOGETHER): void {
  describe(kind.name, () => {
    const context = useStore(kind);
    for (const [what, contract] of Object.entries(parts)) describe(what, () => contract(context));
  });
}
