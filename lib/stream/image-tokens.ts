// What an image weighs in tokens where nobody has counted it, in a request or in an answer.

export const TOKENS_PER_IMAGE = 1000;

/** No vendor counts less for an image: a count below does not include it. */
export const TOKENS_PER_IMAGE_LEAST = 64;
