// The error for a copy that differs from its source.
import { OperatorError } from '../base/operator-error.ts';

export function mismatchError(what: string): OperatorError {
  return new OperatorError(`The copy of ${what} does not match the source: start again with an empty target.`);
}
