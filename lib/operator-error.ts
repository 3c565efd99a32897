// A mistake of the operator: one clear line and exit 1, never a stack trace. Of its own, as every thread loads it.

export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
