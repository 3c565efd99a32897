// The aspect ratios of pictures and videos on offer, such as `16:9`.

/** An upstream with other aspects gets the nearest. */
export const ASPECTS: readonly string[] = ['1:1', '16:9', '9:16', '4:3', '3:4'];

export const ASPECT = /^[1-9]\d?:[1-9]\d?$/;
