// What verbs do: each action works on an open store and answers for programs and for people. Loaded with the first request
// of the management API: few gateways get one, and the actions take 0.2 MB.

export { accountActions } from './actions/account.ts';
export { catalogActions } from './actions/catalog.ts';
export { chargeActions } from './actions/charge.ts';
export { costActions } from './actions/cost.ts';
export { grantActions } from './actions/grant.ts';
export { holdActions } from './actions/hold.ts';
export { keyActions } from './actions/key.ts';
export { keyUserActions } from './actions/key-users.ts';
export { ledgerActions } from './actions/ledger.ts';
export { memberActions } from './actions/member.ts';
export { paymentActions } from './actions/payment.ts';
export { inviteActions } from './actions/people.ts';
export { promoActions } from './actions/promo.ts';
export { usageActions } from './actions/usage.ts';
export { userActions } from './actions/user.ts';
export { walletActions } from './actions/wallet.ts';
