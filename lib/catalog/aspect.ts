// The supported aspect ratios of images and videos, such as `16:9`.

/** An upstream with other aspects is sent the nearest one. */
export const ASPECTS: readonly string[] = ['1:1', '16:9', '9:16', '4:3', '3:4'];

export const ASPECT = /^[1-9]\d?:[1-9]\d?$/;
