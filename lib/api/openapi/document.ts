// The API document, assembled from its chapters.
import { accountChapter } from './account.ts';
import { chatChapter } from './chat.ts';
import { errorComponents, errorSchemas, headerComponents } from './errors.ts';
import { healthChapter } from './health.ts';
import { imageChapter } from './images.ts';
import { mediaChapter } from './media.ts';
import { messageChapter } from './message.ts';
import type { Chapter, Json } from './schema.ts';
import { textSchemas } from './text.ts';
import { videoChapter } from './videos.ts';

const CHAPTERS: readonly Chapter[] = [
  ...[messageChapter, chatChapter, imageChapter, videoChapter],
  ...[accountChapter, mediaChapter, healthChapter],
];

const DESCRIPTION = `One HTTP API in front of many models, paid in roubles (RUB) from one prepaid wallet per account.

Every endpoint under \`/api\` takes a key, as \`x-api-key: <key>\` or as \`Authorization: Bearer <key>\`; \`x-api-key\`
decides when both name a key. Generating endpoints share a limit of 30 requests per minute and key, unless the operator
chose another.

A client that appends \`/chat/completions\` itself has the base address \`<server>/api/v1\`, one that appends
\`/v1/messages\` itself has \`<server>/api\`.

Unknown fields of a request are ignored, and null on an optional field means that it is absent. Replies may gain fields.
A \`thread\` is refused: the gateway keeps no history, and clients send all of theirs.`;

/** The OpenAPI 3.1 document of a service with this `publicUrl`. */
export function describeApi(publicUrl: string): Json {
  return {
    openapi: '3.1.1',
    info: { title: 'Tollgate', version: '1', description: DESCRIPTION },
    servers: [{ url: publicUrl }],
    security: [{ key: [] }, { bearer: [] }],
    tags: [
      { name: 'Text', description: 'Two wire formats of one engine.' },
      { name: 'Images', description: 'Pictures that are made or edited.' },
      { name: 'Videos', description: 'Made in the background: begun, and looked at until they are there.' },
      { name: 'Account', description: 'What a key can use and spend.' },
      { name: 'Service', description: 'For operators and tools; no key is taken.' },
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
