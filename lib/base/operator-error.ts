// An operator's mistake: one clear line and exit 1, never a stack trace. In its own file because every thread loads it.

export class OperatorError extends Error {
  override readonly name = 'OperatorError';
}
