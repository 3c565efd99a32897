// The memory that a text request takes: measured once it is read, and freed as soon as no route needs it.
import type { TextContent } from '../../upstream/contract/provider.ts';
import { releaseFiles } from './files.ts';
import { listRequestImages } from './images.ts';
import type { RequestContent, TextRequest } from './request.ts';

/** Approximate bytes of everything in a request that a client can make long: texts, files, and images sent inline. */
export function measureRequest({ system = [], messages, tools, format, messageFields }: TextRequest): number {
  let bytes = tools?.text.length ?? 0;
  for (const fields of [format, messageFields]) if (fields) bytes += JSON.stringify(fields).length;
  for (const { text } of system) bytes += text.length;
  for (const { content } of messages) for (const part of content) bytes += measureContentBytes(part);
  return bytes;
}

function measureContentBytes(part: RequestContent): number {
  switch (part.type) {
    case 'text':
      return part.text.length + measureCitations(part);
    case 'reasoning':
      return part.text.length + (part.state?.value.length ?? 0);
    case 'document':
      return part.bytes.length + (part.name?.length ?? 0);
    case 'audio':
      return part.bytes.length;
    case 'image':
      return typeof part.source === 'string' ? 0 : part.source.bytes.length;
    case 'tool-reference':
      return part.name.length;
    case 'tool-call':
      return part.json.length + (part.state?.value.length ?? 0);
    case 'tool-result':
      return part.content.reduce((sum, inner) => sum + measureContentBytes(inner), 0);
  }
}

function measureCitations({ citations = [] }: TextContent): number {
  return citations.reduce((sum, { original }) => sum + (original?.value.length ?? 0), 0);
}

/** Empties a request that no route needs any more, even if something still refers to it. */
export function releaseTextRequest(request: TextRequest): void {
  for (const { source } of listRequestImages(request)) if (typeof source !== 'string') source.release();
  if (request.files) releaseFiles(request.messages);
  Object.assign(request, { system: undefined, messages: [] } satisfies Partial<TextRequest>);
  const optional: { tools?: unknown; format?: unknown; messageFields?: unknown } = request;
  delete optional.tools;
  delete optional.format;
  delete optional.messageFields;
}
