// What the playground's form asks for: its fields, and the same call as an API request.
import { REFERENCES_MAX } from '../../calls/images/request.ts';
import { offersOf, type VideoOffers } from '../../calls/videos/terms.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { listModels } from '../../catalog/listing.ts';
import type { ModelType } from '../../catalog/model.ts';
import type { WebServices } from '../services.ts';

export const PLAY_KINDS = ['text', 'image', 'video'] as const satisfies readonly ModelType[];
export type PlayKind = (typeof PLAY_KINDS)[number];

/** Fields of every kind; a kind ignores those it does not have. */
export const PLAY_FIELDS = ['key', 'model', 'prompt', 'max_tokens', 'size', 'seconds', 'resolution', 'aspect'] as const;
type PlayField = (typeof PLAY_FIELDS)[number];

export interface PlaygroundForm extends Readonly<Record<PlayField, string>> {
  readonly kind: PlayKind;
  /** The available models of the kind. */
  readonly models: readonly string[];
  /** What the model lets one choose; undefined unless it is a video model. */
  readonly offers: VideoOffers | undefined;
  /** How many pictures go with it. */
  readonly pictures: number;
  /** The most that its kind takes here. */
  readonly picturesMax: number;
}

/** The field in which a form brings them; in `pictures` it says how many. */
export const PICTURE_FIELD = 'image';

const DEFAULTS: Readonly<Partial<Record<PlayField, string>>> = { max_tokens: '1024', size: '1024x1024' };

/** `read` returns the value of a field of a query or form. */
export function readWish({ catalog }: WebServices, read: (name: string) => string | undefined): PlaygroundForm {
  const kind = PLAY_KINDS.find((name) => name === read('kind')) ?? 'text';
  const models = listModels(catalog())
    .filter(({ type }) => type === kind)
    .map(({ id }) => id);
  const pictures = read('pictures') ?? '';
  const text = (name: PlayField) => read(name) ?? DEFAULTS[name] ?? '';
  const model = text('model') || (models[0] ?? '');
  const found = catalog().byName.get(model);
  return {
    kind,
    models,
    model,
    offers: kind === 'video' && found?.type === 'video' ? offersOf(found) : undefined,
    key: text('key'),
    // Forms send CRLF line ends.
    prompt: text('prompt').replaceAll('\r\n', '\n'),
    max_tokens: text('max_tokens').trim(),
    size: text('size'),
    seconds: text('seconds'),
    resolution: text('resolution'),
    aspect: text('aspect'),
    pictures: /^\d{1,3}$/.test(pictures) ? Number(pictures) : 0,
    picturesMax: picturesMax(kind, catalog()),
  };
}

/** None where there is nobody to look at them. */
function picturesMax(kind: PlayKind, { vision, models }: Catalog): number {
  switch (kind) {
    case 'text':
      return vision.length > 0 ? REFERENCES_MAX : 0;
    case 'image':
      return models.some((model) => model.type === 'image' && model.edits) ? REFERENCES_MAX : 0;
    case 'video':
      return 1;
  }
}

/** A field about which the page can say more than the API would. */
export type Mistake = 'prompt' | 'max_tokens' | 'choice' | 'pictures' | 'picture';

const COUNT = /^[1-9]\d{0,8}$/;

export function mistakeIn({
  kind,
  prompt,
  max_tokens,
  seconds,
  resolution,
  aspect,
  offers,
  pictures,
  picturesMax,
}: PlaygroundForm): Mistake | undefined {
  if (prompt.trim() === '') return 'prompt';
  if (kind === 'text' && max_tokens !== '' && !COUNT.test(max_tokens)) return 'max_tokens';
  if (pictures > picturesMax) return kind === 'video' ? 'picture' : 'pictures';
  if (!offers) return undefined;
  const isOffered = (value: string, offered: readonly (string | number)[]) =>
    value === '' || offered.map(String).includes(value);
  const all =
    isOffered(seconds, offers.seconds) &&
    isOffered(resolution, offers.resolutions) &&
    isOffered(aspect, offers.aspects);
  return all ? undefined : 'choice';
}

/** The same call as an API request body, without the fields left open. */
export function bodyOf({ kind, model, prompt, size, ...more }: PlaygroundForm): Readonly<Record<string, unknown>> {
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
