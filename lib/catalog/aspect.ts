// The shapes of pictures and videos, `16:9`, that are sold.

/** An upstream that draws in others gets the nearest. */
export const ASPECTS: readonly string[] = ['1:1', '16:9', '9:16', '4:3', '3:4'];

export const ASPECT = /^[1-9]\d?:[1-9]\d?$/;
