// Converts errors for sending them between threads: a structured clone would lose their class.
import { OperatorError } from '../../base/operator-error.ts';
import { StoreError } from '../store.ts';

export interface Failure {
  readonly message: string;
  readonly kind: 'operator' | StoreError['applied'];
  readonly blames: StoreError['blames'];
  readonly cause: unknown;
}

export function toFailure(error: unknown): Failure {
  if (error instanceof StoreError) {
    const { applied, message, cause, blames } = error;
    return { kind: applied, message, cause, blames };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof OperatorError) return { kind: 'operator', message, cause: undefined, blames: 'store' };
  return { kind: 'no', message, cause: error, blames: 'store' };
}

export function toError({ message, kind, cause, blames }: Failure): Error {
  return kind === 'operator' ? new OperatorError(message) : new StoreError(message, kind, cause, blames);
}
