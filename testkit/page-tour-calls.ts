// The stops of a tour at the pages that help to make calls, connecting programs and the playground, and at the statement.

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
    at(play, 'playground-text'),
    at(play, 'playground-image', { path: `${play}?kind=image` }),
    at(play, 'playground-embedding', { path: `${play}?kind=embedding` }),
    at(play, 'playground-video', { path: `${play}?kind=video` }),
    at(play, 'playground-images', { path: `${play}?images=2` }),
    at(play, 'playground-image', { path: `${play}?kind=image`, does: [['button[value=send]', true]] }),
    at(`${play}/video`, 'playground-film', { path: `${play}/video?id=${job}` }),
  ];
}
