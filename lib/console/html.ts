// The `html` tag of all pages: only markup it made itself passes unescaped.

declare const BRAND: unique symbol;

/** Safe markup. */
export interface Html {
  readonly [BRAND]: true;
  readonly text: string;
}

export type HtmlValue = Html | string | number | false | null | undefined | readonly HtmlValue[];

/** Values are text, or attribute values in double quotes; never a name, a script or a style. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = strings[0] ?? '';
  for (const [at, value] of values.entries()) text += render(value) + strings[at + 1];
  return markup(text);
}

/** `false`, `null` and `undefined` render nothing, so parts can be left out with `&&`. */
function render(value: HtmlValue): string {
  if (value === false || value === null || value === undefined) return '';
  if (typeof value === 'string') return escapeHtml(value);
  if (typeof value === 'number') return String(value);
  return isHtml(value) ? value.text : value.map(render).join('');
}

function isHtml(value: Html | readonly HtmlValue[]): value is Html {
  return Markup.isMade(value);
}

/**
 * Known by a private field: an object from JSON that looks like markup is not markup. A set of all that were made would
 * cost more than the rest of a long page.
 */
class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text;
  }

  static isMade(value: object): boolean {
    return #text in value;
  }
}

function markup(text: string): Html {
  return new Markup(text) as unknown as Html;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
