// The one table of verbs: what the command line, the management API and the API of owners do alike, and the commands that
// have no route, with the reason.
import type { Verb } from './verb.ts';
import { ACCOUNT_AND_PEOPLE_VERBS } from './verbs-accounts.ts';
import { GRANT_VERBS } from './verbs-grants.ts';
import { HOLD_VERBS } from './verbs-holds.ts';
import { MEMBER_VERBS } from './verbs-members.ts';
import { MONEY_VERBS } from './verbs-money.ts';
import { PROMO_VERBS } from './verbs-promo.ts';

export const VERBS: readonly Verb[] = [
  ...ACCOUNT_AND_PEOPLE_VERBS,
  ...MEMBER_VERBS,
  ...MONEY_VERBS,
  ...GRANT_VERBS,
  ...PROMO_VERBS,
  ...HOLD_VERBS,
];

const FILES = 'reads or writes files of the machine it runs on';
const PLUGINS = 'works on the folder of a plugin';
const OPERATORS = 'makes operators: whoever has a key must not become one';

/** Commands without a route. A group stands for all of its commands. */
export const COMMAND_ONLY: Readonly<Record<string, string>> = {
  'bank import': FILES,
  'catalog console': 'changes what operators write on pages, with a code',
  'catalog import': FILES,
  'cost compare': FILES,
  import: FILES,
  doctor: 'looks at the machine it runs on',
  'ledger archive': FILES,
  'management-key': 'makes keys: what a stolen key made would outlive it',
  operator: OPERATORS,
  'payment check': PLUGINS,
  provider: PLUGINS,
  secrets: 'changes keys of the environment',
  serve: 'starts the server',
  smart: 'explains a request in a file',
  store: FILES,
  'support-bundle': FILES,
};
