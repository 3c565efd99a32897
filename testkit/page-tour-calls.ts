// The stops of a tour at the pages that help to make calls, connecting programs and the playground, at the statement and at
// usage that is split; and refused calls.
import { HOUR_MS } from '../lib/base/durations.ts';
import type { Refusal } from '../lib/store/ports/refusals.ts';
import type { TestGateway } from './gateway.ts';

type At<Stop> = (route: string, name: string, more?: More) => Stop;
interface More {
  readonly path?: string;
  readonly does?: readonly (readonly [selector: string, value: string | true])[];
}

const play = '/account/playground';

/** `job` is the id of a video. */
export function listCallingStops<Stop>(at: At<Stop>, job: string): readonly Stop[] {
  return [
    at('/account/connect', 'connect', { path: '/account/connect?client=cherry-studio' }),
    at('/account/statement', 'statement'),
    at('/account/statement.csv', 'statement-csv'),
    at('/account/payments.csv', 'payments-csv'),
    at('/account/usage', 'usage-split', { path: '/account/usage?by=key&split=model' }),
    at('/account/usage.csv', 'usage-csv-split', { path: '/account/usage.csv?by=key&split=model' }),
    at(play, 'playground-text'),
    at(play, 'playground-image', { path: `${play}?kind=image` }),
    at(play, 'playground-embedding', { path: `${play}?kind=embedding` }),
    at(play, 'playground-video', { path: `${play}?kind=video` }),
    at(play, 'playground-images', { path: `${play}?images=2` }),
    at(play, 'playground-image', { path: `${play}?kind=image`, does: [['button[value=send]', true]] }),
    at(`${play}/video`, 'playground-film', { path: `${play}/video?id=${job}` }),
  ];
}

/** Counts them in the store at once, where a gateway takes some seconds. */
export function refuseCalls({ store }: TestGateway, whose: Pick<Refusal, 'account' | 'key'>): Promise<void> {
  const lastAt = Date.now();
  const hour = lastAt - (lastAt % HOUR_MS);
  const message = 'Unknown model `gpt-9`. See GET /api/v1/models for the list.';
  return store.refusals.add([{ ...whose, hour, lastAt, code: 'unknown_model', status: 400, count: 12, message }]);
}
