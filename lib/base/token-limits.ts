// How many output tokens a call may ask for.

export const MAX_TOKENS_DEFAULT = 8192;
/** Values above are taken as this. */
export const MAX_TOKENS_MAXIMUM = 32_768;
