// Encodes a `multipart/form-data` body, by https://www.rfc-editor.org/rfc/rfc7578 and the HTML standard's escapes.
import { Buffer } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Multipart } from '../contract/request.ts';

interface EncodedMultipart {
  /** The content type, including the boundary. */
  readonly type: string;
  readonly pieces: readonly Uint8Array[];
}

export function encodeMultipart({ fields, files }: Multipart): EncodedMultipart {
  const boundary = `tollgate-${randomUUID()}`;
  const pieces: Uint8Array[] = [];
  for (const [name, value] of Object.entries(fields)) {
    pieces.push(Buffer.from(`--${boundary}\r\n${writeDisposition(name)}\r\n\r\n${value}\r\n`));
  }
  for (const { field, fileName, mediaType, bytes } of files) {
    const head = `${writeDisposition(field)}; filename="${quote(fileName)}"\r\ncontent-type: ${oneLine(mediaType)}`;
    pieces.push(Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), bytes, Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { type: `multipart/form-data; boundary=${boundary}`, pieces };
}

function writeDisposition(name: string): string {
  return `content-disposition: form-data; name="${quote(name)}"`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\r': '%0D', '\n': '%0A', '"': '%22' };

function quote(text: string): string {
  return text.replace(/[\r\n"]/g, (character) => ESCAPES[character] as string);
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]/g, ' ');
}
