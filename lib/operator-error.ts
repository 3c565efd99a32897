// A mistake of the operator: one clear line and exit 1, never a stack trace. In a file of its own: every thread loads it.

export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
