// The user and the password in an address that an operator wrote.
import { OperatorError } from './operator-error.ts';

/** Both decoded, empty if there are none. Throws an `OperatorError` that begins with `where` and quotes neither. */
export function readCredentials(
  { username, password }: Pick<URL, 'username' | 'password'>,
  where: string,
): { readonly user: string; readonly pass: string } {
  try {
    return { user: decodeURIComponent(username), pass: decodeURIComponent(password) };
  } catch {
    throw new OperatorError(`${where}: in the user and the password, % has to be written as %25`);
  }
}
