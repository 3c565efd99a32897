// Reads submitted forms within a size limit, and refuses those that another site sent.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Request } from '@hapi/hapi';
import { fault } from '../base/faults.ts';
import { isOneLine, isReadableId } from '../base/one-line.ts';
import { type BodyLimits, readBody } from '../http/body.ts';
import { type FormFile, isForm, readForm as readParts } from '../http/form.ts';
import type { MemoryReservation } from '../http/memory-quota.ts';
import { IMAGE_BYTES_MAX } from '../media/image.ts';

const FORM_BYTES_MAX = 64 * 1024;
const FORM_TYPE = /^application\/x-www-form-urlencoded(?:\s*;|\s*$)/i;

/** A submitted form. Of repeated names the first counts, except in `all`. */
export interface Form {
  /** Trimmed; empty when absent. */
  text(name: string): string;
  /** Untrimmed: a password may begin with a space. */
  secret(name: string): string;
  all(name: string): readonly string[];
  has(name: string): boolean;
  /** All texts, untrimmed. */
  entries(): readonly (readonly [name: string, value: string])[];
  /** Uploaded images; empty file fields are left out. */
  readonly files: readonly FormFile[];
}

/** What is wrong with a form, and with which of its fields, if it is one. */
export interface Refusal {
  readonly text: string;
  readonly field?: string | undefined;
}

export interface Refused extends Refusal {
  readonly sent: Form;
}

/** How a form takes images. */
export interface ImageRules {
  /** The file field. */
  readonly name: string;
  /** Of the whole body. */
  readonly limits: BodyLimits;
}

interface ReadOptions {
  readonly signal: AbortSignal;
  readonly share: MemoryReservation;
  readonly images: ImageRules | undefined;
}

/** Throws 400, 408, 413 and 415 faults. */
export async function readForm(request: Request, { signal, share, images }: ReadOptions): Promise<Form> {
  const type = request.raw.req.headers['content-type'] ?? '';
  if (images && isForm(type)) {
    const { name, limits } = images;
    const { texts, files } = await readParts(request.raw.req, {
      type,
      signal,
      reservation: share,
      limits,
      fileBytesMax: IMAGE_BYTES_MAX,
      textBytesMax: FORM_BYTES_MAX,
      classifyPart: (field, isFile) => (isFile ? (field === name ? 'file' : 'other') : 'text'),
    });
    const chosen = files.filter(({ fileName, bytes }) => fileName !== '' || bytes.length > 0);
    return createForm(new URLSearchParams(texts.map(({ name, text }) => [name, text])), chosen);
  }
  if (!FORM_TYPE.test(type)) {
    throw fault('unsupported_media_type', { field: 'content-type', hint: 'application/x-www-form-urlencoded' });
  }
  const bytes = await readBody(request.raw.req, { signal, reservation: share, limits: { bytesMax: FORM_BYTES_MAX } });
  return createForm(new URLSearchParams(bytes.toString('utf8')));
}

function createForm(fields: URLSearchParams, files: readonly FormFile[] = []): Form {
  const secret = (name: string) => fields.get(name) ?? '';
  return {
    text: (name) => secret(name).trim(),
    secret,
    all: (name) => fields.getAll(name),
    has: (name) => fields.has(name),
    entries: () => [...fields],
    files,
  };
}

const LINE_LENGTH_MAX = 200;

/** Whether it is a short line of text, such as a reason. */
export function isLine(text: string): boolean {
  return text !== '' && text.length <= LINE_LENGTH_MAX && isOneLine(text);
}

/** The same for an id that somebody else gave, such as that of a payment: a repeat is known by it. */
export function isIdLine(text: string): boolean {
  return isLine(text) && isReadableId(text);
}

/** The token every form carries: only someone who can read the cookie can produce it. */
export function csrfToken(cookie: string): string {
  return createHmac('sha256', cookie).update('form').digest('base64url');
}

export function checkCsrf(form: Form, cookie: string): void {
  // Anybody can compute the token of an empty cookie.
  if (cookie === '') throw fault('stale_form');
  const sent = Buffer.from(form.secret('csrf'));
  const expected = Buffer.from(csrfToken(cookie));
  if (sent.length !== expected.length || !timingSafeEqual(sent, expected)) throw fault('stale_form');
}

/** Refuses a form sent by another site's page, as far as the browser tells. */
export function refuseForeign(request: Request): void {
  const { origin, host, 'sec-fetch-site': site } = request.raw.req.headers;
  // No page can set it. A proxy may send another host here, or hide the origin by a stricter `Referrer-Policy`.
  if (site === 'same-origin') return;
  if (site === 'cross-site' || site === 'same-site') throw fault('foreign_form');
  // Browsers without `Sec-Fetch-Site` send the origin with every form.
  if (origin !== undefined && URL.parse(origin)?.host !== host) throw fault('foreign_form');
}
