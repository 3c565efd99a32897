// The suite every store passes: it says in tests what the doc comments of `lib/store/store.ts` promise.
import { accountContract } from './accounts.ts';
import { alertContract } from './alerts.ts';
import { budgetContract } from './budgets.ts';
import { chargeListContract } from './charge-list.ts';
import { checkpointContract } from './checkpoints.ts';
import type { StoreKind } from './context.ts';
import { idempotencyContract } from './idempotency.ts';
import { jobContract } from './jobs.ts';
import { journalContract } from './journal.ts';
import { keyContract } from './keys.ts';
import { ledgerContract } from './ledger.ts';
import { ledgerReadContract } from './ledger-reads.ts';
import { lifecycleContract } from './lifecycle.ts';
import { limitContract } from './limits.ts';
import { mediaContract } from './media.ts';
import { modelContract } from './model.ts';
import { ownerContract } from './owners.ts';
import { paymentContract } from './payments.ts';
import { peopleContract } from './people.ts';
import { processContract } from './processes.ts';
import { settingContract } from './settings.ts';
import { signinContract } from './signins.ts';

export function storeContract(kind: StoreKind): void {
  describe(`${kind.name}: ledger`, () => ledgerContract(kind));
  describe(`${kind.name}: ledger against the model`, () => modelContract(kind));
  describe(`${kind.name}: budgets of keys`, () => budgetContract(kind));
  describe(`${kind.name}: ledger reads`, () => ledgerReadContract(kind));
  describe(`${kind.name}: charges of a wallet`, () => chargeListContract(kind));
  describe(`${kind.name}: journal`, () => journalContract(kind));
  describe(`${kind.name}: checkpoints of the audit`, () => checkpointContract(kind));
  describe(`${kind.name}: accounts`, () => accountContract(kind));
  describe(`${kind.name}: keys`, () => keyContract(kind));
  describe(`${kind.name}: limits`, () => limitContract(kind));
  describe(`${kind.name}: owners`, () => ownerContract(kind));
  describe(`${kind.name}: settings`, () => settingContract(kind));
  describe(`${kind.name}: jobs`, () => jobContract(kind));
  describe(`${kind.name}: payments`, () => paymentContract(kind));
  describe(`${kind.name}: media`, () => mediaContract(kind));
  describe(`${kind.name}: people`, () => peopleContract(kind));
  describe(`${kind.name}: alerts`, () => alertContract(kind));
  describe(`${kind.name}: keys against repeats`, () => idempotencyContract(kind));
  describe(`${kind.name}: sessions and links`, () => signinContract(kind));
  describe(`${kind.name}: lifecycle`, () => lifecycleContract(kind));
  describe(`${kind.name}: several processes`, () => processContract(kind));
}
