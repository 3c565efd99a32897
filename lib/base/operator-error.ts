// A mistake of the operator: printed as one clear line, never with a stack trace.

export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}

/** What was named does not exist. */
export class UnknownError extends OperatorError {}

/** An argument, option or field that cannot be read, or that does not fit the others. */
export class InvalidInputError extends Error {
  override readonly name = 'InvalidInputError';
  /** By which commander knows such errors, so that it says which argument or option was wrong. */
  readonly code = 'commander.invalidArgument';
}
