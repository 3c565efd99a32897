// What somebody wishes for in the playground: the fields of its form, and the same call as the API takes it.
import { listModels } from '../../catalog/listing.ts';
import type { ModelType } from '../../catalog/model.ts';
import { offersOf, type VideoOffers } from '../../videos/terms.ts';
import type { WebServices } from '../services.ts';

export const PLAY_KINDS = ['text', 'image', 'video'] as const satisfies readonly ModelType[];
export type PlayKind = (typeof PLAY_KINDS)[number];

/** Of every kind; those that a kind does not have are not looked at. */
export const PLAY_FIELDS = ['key', 'model', 'prompt', 'max_tokens', 'size', 'seconds', 'resolution', 'aspect'] as const;
type PlayField = (typeof PLAY_FIELDS)[number];

export interface Wish extends Readonly<Record<PlayField, string>> {
  readonly kind: PlayKind;
  /** Models of the kind that can be used now. */
  readonly models: readonly string[];
  /** What the model lets choose; undefined where it is no video. */
  readonly offers: VideoOffers | undefined;
}

const DEFAULTS: Readonly<Partial<Record<PlayField, string>>> = { max_tokens: '1024', size: '1024x1024' };

/** `read` gives what a query or a form has of a name. */
export function readWish({ catalog }: WebServices, read: (name: string) => string | undefined): Wish {
  const kind = PLAY_KINDS.find((name) => name === read('kind')) ?? 'text';
  const models = listModels(catalog())
    .filter(({ type }) => type === kind)
    .map(({ id }) => id);
  const text = (name: PlayField) => read(name) ?? DEFAULTS[name] ?? '';
  const model = text('model') || (models[0] ?? '');
  const found = catalog().byName.get(model);
  return {
    kind,
    models,
    model,
    offers: kind === 'video' && found?.type === 'video' ? offersOf(found) : undefined,
    key: text('key'),
    // Forms send lines as the mail does.
    prompt: text('prompt').replaceAll('\r\n', '\n'),
    max_tokens: text('max_tokens').trim(),
    size: text('size'),
    seconds: text('seconds'),
    resolution: text('resolution'),
    aspect: text('aspect'),
  };
}

/** A field that the page itself can say more about than the API would. */
export type Mistake = 'prompt' | 'max_tokens' | 'choice';

const COUNT = /^[1-9]\d{0,8}$/;

export function mistakeIn({
  kind,
  prompt,
  max_tokens,
  seconds,
  resolution,
  aspect,
  offers,
}: Wish): Mistake | undefined {
  if (prompt.trim() === '') return 'prompt';
  if (kind === 'text' && max_tokens !== '' && !COUNT.test(max_tokens)) return 'max_tokens';
  if (!offers) return undefined;
  const isOffered = (value: string, offered: readonly (string | number)[]) =>
    value === '' || offered.map(String).includes(value);
  const all =
    isOffered(seconds, offers.seconds) &&
    isOffered(resolution, offers.resolutions) &&
    isOffered(aspect, offers.aspects);
  return all ? undefined : 'choice';
}

/** The body of the same call to the API; what was left open is not in it. */
export function bodyOf({ kind, model, prompt, size, ...more }: Wish): Readonly<Record<string, unknown>> {
  const number = (text: string) => (text === '' ? undefined : Number(text));
  switch (kind) {
    case 'text':
      return given({ model, max_tokens: number(more.max_tokens), messages: [{ role: 'user', content: prompt }] });
    case 'image':
      return given({ model, prompt, size });
    case 'video': {
      const { seconds, resolution, aspect } = more;
      return given({ model, prompt, seconds: number(seconds), resolution, aspect });
    }
  }
}

function given(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}
