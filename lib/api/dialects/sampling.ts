// The sampling parameters of a request, as the client wrote them.
import { SAMPLING_FIELDS, type SamplingWish } from '../../calls/text/sampling.ts';

/** Some clients send -1 for one of these that is not set. */
const UNSET_BY_MINUS_ONE: ReadonlySet<string> = new Set(['top_p', 'top_k']);

/** Not even type-checked: most models do not get them, and then nothing is refused. */
export function readSampling(body: unknown): { readonly sampling?: SamplingWish } {
  const given = body as SamplingWish;
  const isSent = (name: (typeof SAMPLING_FIELDS)[number]) =>
    given[name] !== undefined && given[name] !== null && !(given[name] === -1 && UNSET_BY_MINUS_ONE.has(name));
  const sent = SAMPLING_FIELDS.filter(isSent);
  return sent.length > 0 ? { sampling: Object.fromEntries(sent.map((name) => [name, given[name]])) } : {};
}
