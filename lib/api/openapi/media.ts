// Stored media in the API document.

import type { Json } from '../../base/json-schema.ts';
import { errorResponses } from './errors.ts';
import { type Chapter, headers } from './schema.ts';

const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'video/mp4', 'video/webm', 'video/quicktime'];

const file = (description: string): Json => ({
  description,
  headers: headers('x-request-id', 'request-id'),
  content: Object.fromEntries(TYPES.map((type) => [type, {}])),
});

export const mediaChapter: Chapter = {
  paths: {
    '/media/{file}': {
      get: {
        tags: ['Service'],
        security: [],
        operationId: 'getMedia',
        summary: 'Download a generated image or video',
        description:
          'The `url` of a generated image or video. Anyone with the link can download the file until it expires, by ' +
          'default after 24 hours. Byte ranges and `HEAD` are supported.',
        parameters: [
          {
            name: 'file',
            in: 'path',
            required: true,
            schema: { type: 'string' },
            description: 'The file name from the link.',
          },
          {
            name: 'range',
            in: 'header',
            schema: { type: 'string' },
            description: 'A single byte range, such as `bytes=0-1023`.',
          },
        ],
        responses: {
          200: file('The whole file.'),
          206: file('The requested range of the file.'),
          304: { description: 'Not modified: `if-none-match` contains the `etag` of the file.' },
          ...errorResponses('message', [404, 416, 503]),
        },
      },
    },
  },
  schemas: {},
};
