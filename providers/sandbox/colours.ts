// The colours of the sandbox: named in prompts, painted into pictures, and seen in them again.

export type Rgb = readonly [red: number, green: number, blue: number];

export interface Colour {
  readonly rgb: Rgb;
  readonly english: string;
  readonly russian: string;
  /** How it is named in a prompt. */
  readonly words: RegExp;
}

const COLOURS: readonly Colour[] = [
  { rgb: [214, 40, 40], english: 'red', russian: 'красный', words: /\bred\b|красн/i },
  { rgb: [245, 130, 32], english: 'orange', russian: 'оранжевый', words: /\borange\b|оранжев/i },
  { rgb: [250, 210, 40], english: 'yellow', russian: 'жёлтый', words: /\byellow\b|ж[её]лт/i },
  { rgb: [46, 160, 67], english: 'green', russian: 'зелёный', words: /\bgreen\b|зел[её]н/i },
  { rgb: [90, 190, 235], english: 'light blue', russian: 'голубой', words: /\blight blue\b|голуб/i },
  { rgb: [30, 80, 200], english: 'blue', russian: 'синий', words: /\bblue\b|син(ий|яя|ее|ие|его|ей|юю|их)/i },
  { rgb: [130, 60, 180], english: 'purple', russian: 'фиолетовый', words: /\bpurple\b|фиолетов/i },
  { rgb: [245, 150, 185], english: 'pink', russian: 'розовый', words: /\bpink\b|розов/i },
  { rgb: [125, 80, 45], english: 'brown', russian: 'коричневый', words: /\bbrown\b|коричнев/i },
  { rgb: [128, 128, 128], english: 'grey', russian: 'серый', words: /\bgr[ea]y\b|\bсер(ый|ая|ое|ые)/i },
  { rgb: [250, 250, 250], english: 'white', russian: 'белый', words: /\bwhite\b|бел(ый|ая|ое|ые|ого|ой|ую)/i },
  { rgb: [15, 15, 15], english: 'black', russian: 'чёрный', words: /\bblack\b|ч[её]рн/i },
];

/** The first colour that a prompt names. */
export function namedColour(prompt: string): Colour | undefined {
  const named = COLOURS.map((colour) => ({ colour, at: prompt.search(colour.words) })).filter(({ at }) => at >= 0);
  return named.sort((one, other) => one.at - other.at)[0]?.colour;
}

/** Any number chooses a colour. */
export function colourAt(choice: number): Colour {
  return COLOURS[choice % COLOURS.length] as Colour;
}

/** What most pixels of a picture look like: `rgb` has three bytes a pixel. */
export function mainColour(rgb: Uint8Array): Colour {
  const votes = new Map<Colour, number>();
  for (let at = 0; at + 2 < rgb.length; at += 3) {
    const colour = nearest(rgb[at] as number, rgb[at + 1] as number, rgb[at + 2] as number);
    votes.set(colour, (votes.get(colour) ?? 0) + 1);
  }
  return [...votes].sort(([, one], [, other]) => other - one)[0]?.[0] ?? colourAt(0);
}

function nearest(red: number, green: number, blue: number): Colour {
  const distance = ({ rgb: [r, g, b] }: Colour) => (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2;
  return COLOURS.reduce((best, colour) => (distance(colour) < distance(best) ? colour : best));
}
