// Options of programs without types: a misspelt name would be passed over, and its default taken.
import { OperatorError } from './operator-error.ts';

/** Throws an `OperatorError` that names the first field which is not one of those that are known. */
export function refuseUnknownFields<Options extends object>(
  what: string,
  options: Options,
  known: readonly (keyof Options & string)[],
): void {
  const unknown = Object.keys(options).find((name) => !(known as readonly string[]).includes(name));
  if (unknown === undefined) return;
  throw new OperatorError(`${what}: there is no ${JSON.stringify(unknown)}, only ${known.join(', ')}.`);
}
