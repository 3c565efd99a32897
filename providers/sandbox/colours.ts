// The sandbox's colours: named in prompts, painted into images, and recognised in them.
import colours from './colours.json' with { type: 'json' };

export type Rgb = readonly [red: number, green: number, blue: number];

export interface Colour {
  readonly rgb: Rgb;
  readonly english: string;
  readonly russian: string;
  /** Its name in a prompt. */
  readonly words: RegExp;
}

const COLOURS: readonly Colour[] = colours.map(({ rgb, words, ...names }) => {
  return { ...names, rgb: rgb as unknown as Rgb, words: new RegExp(words, 'i') };
});

/** The first colour that a prompt names. */
export function findNamedColour(prompt: string): Colour | undefined {
  const named = COLOURS.map((colour) => ({ colour, at: prompt.search(colour.words) })).filter(({ at }) => at >= 0);
  return named.sort((one, other) => one.at - other.at)[0]?.colour;
}

/** Any number chooses a colour. */
export function chooseColour(choice: number): Colour {
  return COLOURS[choice % COLOURS.length] as Colour;
}

/** What most pixels of an image look like: `rgb` has three bytes per pixel. */
export function findMainColour(rgb: Uint8Array): Colour {
  const votes = new Map<Colour, number>();
  for (let at = 0; at + 2 < rgb.length; at += 3) {
    const colour = nearest(rgb[at] as number, rgb[at + 1] as number, rgb[at + 2] as number);
    votes.set(colour, (votes.get(colour) ?? 0) + 1);
  }
  return [...votes].sort(([, one], [, other]) => other - one)[0]?.[0] ?? chooseColour(0);
}

function nearest(red: number, green: number, blue: number): Colour {
  const distance = ({ rgb: [r, g, b] }: Colour) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
  return COLOURS.reduce((best, colour) => (distance(colour) < distance(best) ? colour : best));
}
