// What stands for a limit to remove, in options of commands and in inputs of the management API.

/** The word for it. */
export const NONE = 'none';

/** The mark of an option whose word it is: commander turns null into an empty string. */
export const REMOVED = Symbol('removed');
