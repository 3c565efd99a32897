// Stored media in the API document.
import { errorResponses } from './errors.ts';
import { type Chapter, headers, type Json } from './schema.ts';

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
        summary: 'Download a generated picture or video',
        description:
          'Links in replies lead here. Anyone who has one may read the file until it expires, by default after a ' +
          'day. Byte ranges and `HEAD` are supported.',
        parameters: [
          { name: 'file', in: 'path', required: true, schema: { type: 'string' }, description: 'As the link has it.' },
          {
            name: 'range',
            in: 'header',
            schema: { type: 'string' },
            description: 'One range, such as `bytes=0-1023`.',
          },
        ],
        responses: {
          200: file('The whole file.'),
          206: file('The requested part of it.'),
          304: { description: 'The client has it: its `if-none-match` names the `etag` of the file.' },
          ...errorResponses('message', [404, 416, 503]),
        },
      },
    },
  },
  schemas: {},
};
