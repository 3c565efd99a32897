// The fields of the playground's form, their checks, and the same call as an API request.
import { REFERENCES_MAX } from '../../calls/images/request.ts';
import { listOffers, type VideoOffers } from '../../calls/videos/terms.ts';
import { type Catalog, chooseCatalog } from '../../catalog/catalog.ts';
import { listModels } from '../../catalog/listing.ts';
import type { ModelType } from '../../catalog/model.ts';
import type { OwnerVisit } from '../visit.ts';
import {
  CONVERSATION_FIELD,
  type Conversation,
  countKeptImages,
  listMessages,
  NO_CONVERSATION,
  readConversation,
} from './conversation.ts';

export const PLAY_KINDS = ['text', 'embedding', 'image', 'video'] as const satisfies readonly ModelType[];
type PlayKind = (typeof PLAY_KINDS)[number];

/** Fields of every kind; a kind ignores those it does not have. */
type PlayField =
  | 'key'
  | 'model'
  | 'prompt'
  | 'system'
  | 'max_tokens'
  | 'dimensions'
  | 'size'
  | 'seconds'
  | 'resolution'
  | 'aspect';

export interface PlaygroundForm extends Readonly<Record<PlayField, string>> {
  readonly kind: PlayKind;
  /** The available models of the kind. */
  readonly models: readonly string[];
  /** The choices of a video model. */
  readonly videoOptions: VideoOffers | undefined;
  /** The turns before the prompt, for text; undefined if they cannot be read. */
  readonly conversation: Conversation | undefined;
  /** How many images were chosen for the prompt. */
  readonly imageCount: number;
  /** The calls of earlier turns whose images the browser sends again. */
  readonly keptCalls: readonly string[];
  /** How many images those are. */
  readonly keptCount: number;
  /** How many the kind takes at most. */
  readonly imagesMax: number;
}

/** The form's field for the images; its field `images` says how many there are. */
export const IMAGE_FIELD = 'image';

/** The form's field for the calls whose images come again, before those of the prompt. */
export const KEPT_FIELD = 'kept';
const KEPT_CALLS_MAX = 10;

const DEFAULTS: Readonly<Partial<Record<PlayField, string>>> = { max_tokens: '1024', size: '1024x1024' };

/** `read` returns the value of a field of a query or form. */
export function readPlaygroundForm(
  { services, account }: Pick<OwnerVisit, 'services' | 'account'>,
  read: (name: string) => string | undefined,
): PlaygroundForm {
  const catalog = chooseCatalog(services.catalog(), account);
  const kind = PLAY_KINDS.find((name) => name === read('kind')) ?? 'text';
  const models = listModels(catalog)
    .filter(({ type }) => type === kind)
    .map(({ id }) => id);
  const count = read('images') ?? '';
  const text = (name: PlayField) => read(name) ?? DEFAULTS[name] ?? '';
  const model = text('model') || (models[0] ?? '');
  const found = catalog.byName.get(model);
  const conversation = kind === 'text' ? readConversation(read(CONVERSATION_FIELD) ?? '') : NO_CONVERSATION;
  const keptCalls = (read(KEPT_FIELD) ?? '').split(' ', KEPT_CALLS_MAX).filter((call) => call !== '');
  return {
    kind,
    models,
    model,
    videoOptions: kind === 'video' && found?.type === 'video' ? listOffers(found) : undefined,
    key: text('key'),
    conversation,
    // Forms send CRLF line ends.
    prompt: text('prompt').replaceAll('\r\n', '\n'),
    system: text('system').replaceAll('\r\n', '\n'),
    max_tokens: text('max_tokens').trim(),
    dimensions: text('dimensions').trim(),
    size: text('size'),
    seconds: text('seconds'),
    resolution: text('resolution'),
    aspect: text('aspect'),
    imageCount: /^\d{1,3}$/.test(count) ? Number(count) : 0,
    keptCalls,
    keptCount: countKeptImages(conversation ?? NO_CONVERSATION, keptCalls).reduce((sum, images) => sum + images, 0),
    imagesMax: countImagesMax(kind, catalog),
  };
}

/** None where no model reads or edits images. */
function countImagesMax(kind: PlayKind, { vision, models }: Catalog): number {
  switch (kind) {
    case 'text':
      return vision.length > 0 ? REFERENCES_MAX : 0;
    case 'embedding':
      return 0;
    case 'image':
      return models.some((model) => model.type === 'image' && model.edits) ? REFERENCES_MAX : 0;
    case 'video':
      return 1;
  }
}

/** A mistake that the page explains better than the API. */
type Mistake = 'conversation' | 'prompt' | 'max_tokens' | 'dimensions' | 'choice' | 'images' | 'image';

const COUNT = /^[1-9]\d{0,8}$/;

export function findMistake({
  kind,
  prompt,
  max_tokens,
  dimensions,
  seconds,
  resolution,
  aspect,
  videoOptions,
  imageCount,
  keptCount,
  imagesMax,
  conversation,
}: PlaygroundForm): Mistake | undefined {
  if (!conversation) return 'conversation';
  if (prompt.trim() === '') return 'prompt';
  if (kind === 'text' && max_tokens !== '' && !COUNT.test(max_tokens)) return 'max_tokens';
  if (kind === 'embedding' && dimensions !== '' && !COUNT.test(dimensions)) return 'dimensions';
  if (imageCount + keptCount > imagesMax) return kind === 'video' ? 'image' : 'images';
  if (!videoOptions) return undefined;
  const isOffered = (value: string, offered: readonly (string | number)[]) =>
    value === '' || offered.map(String).includes(value);
  const all =
    isOffered(seconds, videoOptions.seconds) &&
    isOffered(resolution, videoOptions.resolutions) &&
    isOffered(aspect, videoOptions.aspects);
  return all ? undefined : 'choice';
}

/** The body of the same call to the API, without empty fields. */
export function buildRequestBody({
  kind,
  model,
  prompt,
  system,
  size,
  conversation = NO_CONVERSATION,
  ...more
}: PlaygroundForm): Readonly<Record<string, unknown>> {
  const number = (text: string) => (text === '' ? undefined : Number(text));
  switch (kind) {
    case 'text':
      return dropEmpty({
        model,
        max_tokens: number(more.max_tokens),
        messages: [
          ...(system.trim() === '' ? [] : [{ role: 'system', content: system }]),
          ...listMessages(conversation),
          { role: 'user', content: prompt },
        ],
      });
    case 'embedding':
      return dropEmpty({ model, input: prompt, dimensions: number(more.dimensions) });
    case 'image':
      return dropEmpty({ model, prompt, size });
    case 'video': {
      const { seconds, resolution, aspect } = more;
      return dropEmpty({ model, prompt, seconds: number(seconds), resolution, aspect });
    }
  }
}

function dropEmpty(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}
