// A mistake of the operator: printed as one clear line, never with a stack trace.

export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** What was named does not exist. */
export class UnknownError extends OperatorError {}
