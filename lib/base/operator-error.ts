// A mistake of the operator: printed as one clear line, never with a stack trace.

export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
