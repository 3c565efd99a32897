// How pages answer: errors as a page, no scripts or frames of others, nothing kept by a cache.
import type { Face } from '../http/face.ts';

/** Chrome applies `form-action` to redirects after a POST as well: a form that leads elsewhere links to it instead. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "media-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const pageFace: Face = {
  headers: {
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  },
  renderFault: ({ message, output }) => ({
    type: 'text/html; charset=utf-8',
    body: `<!doctype html><title>${output.statusCode}</title><h1>${escapeHtml(message)}</h1>\n`,
  }),
};

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}
