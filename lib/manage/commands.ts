// What the commands do, and how they read arguments. Loaded with the first request of the management API: few gateways
// get one, and commander and the commands take more than a megabyte.

export { accountActions } from '../cli/account.ts';
export { readAmount, readPayment, readText, readTime } from '../cli/arguments.ts';
export { catalogActions } from '../cli/catalog.ts';
export { chargeActions } from '../cli/charge.ts';
export { costActions } from '../cli/cost.ts';
export { grantActions } from '../cli/grant.ts';
export { holdActions, readReason } from '../cli/hold.ts';
export { keyActions } from '../cli/key.ts';
export { keyUserActions } from '../cli/key-users.ts';
export { ledgerActions } from '../cli/ledger.ts';
export { memberActions } from '../cli/member.ts';
export { paymentActions } from '../cli/payment.ts';
export { inviteActions } from '../cli/people.ts';
export { promoActions } from '../cli/promo.ts';
export { usageActions } from '../cli/usage.ts';
export { findUser, userActions } from '../cli/user.ts';
export { walletActions } from '../cli/wallet.ts';
