// Turns a body into a picture request: JSON of both endpoints, and forms of edits.
import Joi from 'joi';
import { fault, isFault } from '../base/faults.ts';
import { freeBytes } from '../base/free-bytes.ts';
import { IMAGE_SIZES, type ImageRequest, REFERENCES_MAX, type Refusal } from '../calls/images/request.ts';
import type { Form, FormFile } from '../http/form.ts';
import { createImage, tooLarge } from '../media/image.ts';
import type { RequestImage } from '../media/reference.ts';
import { sniffImage } from '../media/sniff.ts';
import { body, checkFields, documented, invalidField, optional } from './dialects/fields.ts';
import { readLink } from './dialects/pictures.ts';
import { aspectField, imageSizeField, optionalModelField, promptField } from './media-fields.ts';
import { list, text } from './openapi/schema.ts';

export const IMAGE_HINT =
  'A public https URL, a base64 data URI, or the link of a picture made here. PNG, JPEG, GIF or WebP, at most 8 MiB.';

interface Fields {
  readonly prompt: string;
  readonly model?: string | null;
  readonly size?: string | null;
  readonly aspect?: string | null;
}

interface EditFields extends Fields {
  readonly image?: string | null;
  readonly images?: readonly unknown[] | null;
}

const GENERATION = {
  prompt: promptField,
  model: optionalModelField,
  size: imageSizeField,
  aspect: aspectField,
  n: optional(
    Joi.number().integer().valid(1).description('How many; one is made at a time.'),
    'must be 1: one image is made at a time',
  ),
};

/** For a generation. */
export const generationFields = body(GENERATION);

/** For an edit in JSON. */
export const editFields = body({
  ...GENERATION,
  image: optional(
    Joi.string().allow('').description(IMAGE_HINT),
    'must be a string: an https URL or a data URI of an image',
  ),
  images: optional(
    documented(
      Joi.array(),
      list(text(IMAGE_HINT), { description: 'Up to 4, `image` among them.', maxItems: REFERENCES_MAX }),
    ),
    'must be an array of strings',
  ),
});

export function parseGeneration(value: unknown): ImageRequest {
  return createImageRequest(checkFields<Fields>(generationFields, value), { images: [], refusal: undefined });
}

export function parseEdit(value: unknown): ImageRequest {
  const fields = checkFields<EditFields>(editFields, value);
  const { image, images } = fields;
  const named: NamedSource[] = image == null ? [] : [{ field: 'image', source: image }];
  for (const [at, source] of (images ?? []).entries()) {
    const field = `images[${at}]`;
    if (typeof source !== 'string') throw invalidField(field, 'must be a string');
    named.push({ field, source });
  }
  return createImageRequest(fields, readEditImages(named));
}

const FILE_FIELD = /^images?(?:\[\d*\])?$/;
const TEXT_FIELDS: ReadonlySet<string> = new Set(Object.keys(GENERATION));

/** Whether a form part is a picture, a text, or irrelevant to an edit. */
export function classifyEditPart(name: string, isFile: boolean): 'file' | 'text' | 'other' {
  if (FILE_FIELD.test(name)) return isFile ? 'file' : 'text';
  return TEXT_FIELDS.has(name) ? 'text' : 'other';
}

export function parseEditForm({ texts, files }: Form): ImageRequest {
  const values: Record<string, unknown> = {};
  const named: NamedSource[] = [];
  for (const { name, text: value } of texts) {
    if (FILE_FIELD.test(name)) named.push({ field: name, source: value });
    // A form sends empty fields as empty text.
    else if (value !== '' || name === 'prompt')
      values[name] = name === 'n' && /^\d+$/.test(value) ? Number(value) : value;
  }
  for (const file of files) named.push({ field: file.name, source: file });
  return createImageRequest(checkFields<Fields>(generationFields, values), readEditImages(named));
}

export interface NamedSource {
  readonly field: string;
  readonly source: string | FormFile;
}

type ReadImages = Pick<ImageRequest, 'images' | 'refusal'>;

function readEditImages(named: readonly NamedSource[]): ReadImages {
  if (named.length === 0) throw invalidField('image', 'is required: an edit needs an image');
  if (named.length > REFERENCES_MAX) {
    throw invalidField('images', `an edit takes at most ${REFERENCES_MAX} images`);
  }
  return readImageSources(named);
}

/** Problems with them are reported only once the balance would cover the call. */
export function readImageSources(named: readonly NamedSource[]): ReadImages {
  const images: RequestImage[] = [];
  for (const { field, source } of named) {
    try {
      images.push(typeof source === 'string' ? readLink(source, field) : readFormFile(source, field));
    } catch (error) {
      return { images: [], refusal: toRefusal(error) };
    }
  }
  return { images, refusal: undefined };
}

function toRefusal(error: unknown): Refusal {
  if (!isFault(error) || !error.data) throw error;
  const { code, detail } = error.data;
  return { code, detail };
}

/** The declared type of a part is ignored: it is often just the most generic one. */
function readFormFile({ bytes, isCut }: FormFile, field: string): RequestImage {
  if (isCut) throw tooLarge(field);
  const sniffed = sniffImage(bytes);
  if (!sniffed) throw fault('image_unsupported', { field });
  return { type: 'picture', field, source: createImage({ bytes, release: () => freeBytes(bytes) }, sniffed) };
}

/** A size implies the aspect. */
function createImageRequest({ prompt, model, size, aspect }: Fields, read: ReadImages): ImageRequest {
  const pixels = size == null ? undefined : IMAGE_SIZES.get(size);
  return {
    model: model ?? undefined,
    prompt,
    size: pixels,
    aspect: pixels ? undefined : (aspect ?? undefined),
    ...read,
  };
}
