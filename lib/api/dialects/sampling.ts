// The sampling parameters of a request, as the client wrote them.
import { SAMPLING_FIELDS, type SamplingWish } from '../../calls/text/sampling.ts';

/** Not even type-checked: most models do not get them, and then nothing is refused. */
export function readSampling(body: unknown): { readonly sampling?: SamplingWish } {
  const given = body as SamplingWish;
  const sent = SAMPLING_FIELDS.filter((name) => given[name] !== undefined && given[name] !== null);
  return sent.length > 0 ? { sampling: Object.fromEntries(sent.map((name) => [name, given[name]])) } : {};
}
