// The API document, assembled from its chapters.

import type { Json } from '../../base/json-schema.ts';
import { MANAGEMENT_TAGS, managementChapter } from '../management/openapi.ts';
import { accountChapter } from './account.ts';
import { chatChapter } from './chat.ts';
import { compactionChapter } from './compaction.ts';
import { embeddingChapter } from './embeddings.ts';
import { errorComponents, errorSchemas, headerComponents } from './errors.ts';
import { healthChapter } from './health.ts';
import { imageChapter } from './images.ts';
import { mediaChapter } from './media.ts';
import { messageChapter } from './message.ts';
import { responsesChapter } from './responses.ts';
import type { Chapter } from './schema.ts';
import { textSchemas } from './text.ts';
import { tokenCountsChapter } from './token-counts.ts';
import { videoChapter } from './videos.ts';

const CHAPTERS: readonly Chapter[] = [
  messageChapter,
  chatChapter,
  responsesChapter,
  compactionChapter,
  tokenCountsChapter,
  embeddingChapter,
  imageChapter,
  videoChapter,
  accountChapter,
  managementChapter,
  mediaChapter,
  healthChapter,
];

const DESCRIPTION = `One HTTP API in front of many models, paid in roubles (RUB) from one prepaid wallet per account.

Every endpoint under \`/api\` requires an API key, sent as \`x-api-key: <key>\` or as \`Authorization: Bearer <key>\`. If
both headers contain a key, \`x-api-key\` is used. Paths below \`/api/v1/manage\` and \`/api/v1/account\` take a management key
instead. All generating endpoints share one rate limit per key, 30 requests per minute by default.

Base URL for clients that append \`/chat/completions\` or \`/responses\`: \`<server>/api/v1\`. For clients that append \`/v1/messages\`:
\`<server>/api\`.

Unknown request fields are ignored, and null in an optional field means that the field is absent. New fields may be added
to responses at any time. Server-side threads are not supported: a request with \`thread\` is rejected, and clients send
the full message history.`;

/** The OpenAPI 3.1 document of a service with this `publicUrl`. */
export function describeApi(publicUrl: string): Json {
  return {
    openapi: '3.1.1',
    info: { title: 'Tollgate', version: '1', description: DESCRIPTION },
    servers: [{ url: publicUrl }],
    security: [{ key: [] }, { bearer: [] }],
    tags: [
      { name: 'Text', description: 'Generate text. Three request formats, one engine.' },
      { name: 'Embeddings', description: 'Turn texts into vectors.' },
      { name: 'Images', description: 'Generate and edit images.' },
      { name: 'Videos', description: 'Asynchronous: start a job, then poll until it completes.' },
      { name: 'Account', description: 'Models, balance and usage of an API key.' },
      ...MANAGEMENT_TAGS,
      { name: 'Service', description: 'Stored media, health checks and this document. No API key required.' },
    ],
    paths: Object.assign({}, ...CHAPTERS.map(({ paths }) => paths)),
    components: {
      securitySchemes: {
        key: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      headers: headerComponents,
      responses: errorComponents(publicUrl),
      schemas: Object.assign({}, textSchemas, errorSchemas, ...CHAPTERS.map(({ schemas }) => schemas)),
    },
  };
}
