// What an action works with: an open store, the configuration, and who acts.

import type { Accounts } from '../accounts/accounts.ts';
import { UnknownError } from '../base/operator-error.ts';
import type { Config } from '../config.ts';
import type { Account } from '../store/ports/accounts.ts';
import type { User } from '../store/ports/users.ts';
import type { Store } from '../store/store.ts';

/** What a command works with. */
export interface Session {
  readonly store: Store;
  readonly config: Config;
  /** Who acts through the API; absent on the command line. */
  readonly caller?: Caller;
}

export interface Caller {
  /** The id of the management key. */
  readonly id: string;
  /** For the audit log. */
  readonly user: string;
  readonly address: string;
  /** The id of the request, the same for each of its repeats: for operations that need one. */
  readonly operation?: string;
  /** An earlier attempt at the request broke off, perhaps after its change and before its line in the log. */
  readonly isAgain?: boolean;
  /** Whether models here cost real money. */
  readonly isReal?: boolean;
}

export async function openAccounts({ store, config }: Session): Promise<Accounts> {
  const { createAccounts } = await import('../accounts/accounts.ts');
  return createAccounts({ store, keyPrefix: config.keyPrefix });
}

/** Finds an account by its id, or by its name if that is unique. */
export async function findAccount(session: Session, idOrName: string): Promise<Account> {
  return (await openAccounts(session)).find(idOrName);
}

export async function findUser({ store: { users } }: Session, who: string): Promise<User> {
  const { readEmail } = await import('../users/people.ts');
  const email = readEmail(who);
  const user = (await users.get(who)) ?? (email === undefined ? undefined : await users.find(email));
  if (!user) throw new UnknownError(`There is nobody ${JSON.stringify(who.slice(0, 60))} here.`);
  return user;
}
