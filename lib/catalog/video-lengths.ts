// The lengths that a video may have, in seconds: of the endpoint and of a model.
import type { VideoModel } from './model.ts';

/** Limits of every model. */
export const SECONDS = { least: 4, most: 10, byDefault: 5 };

export function findVideoLengths({ seconds = [] }: Pick<VideoModel, 'seconds'>) {
  if (seconds.length === 0) return SECONDS;
  return { least: Math.min(...seconds), most: Math.max(...seconds) };
}
