// What stands for a limit to remove, in options of commands and in inputs of the management API.

/** The word that removes a limit. */
export const NONE = 'none';

/** What a command's option becomes at that word. It is not null, which commander turns into an empty string. */
export const REMOVED = Symbol('removed');
