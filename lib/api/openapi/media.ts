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
        summary: 'Read a picture or a video that was made',
        description:
          'The links of replies lead here. Whoever has one may read the file until it expires, after a day unless the ' +
          'operator chose another time. Ranges of bytes and `HEAD` are answered.',
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
          206: file('The part of it that was asked for.'),
          304: { description: 'The client has it: its `if-none-match` names the `etag` of the file.' },
          ...errorResponses('message', [404, 416, 503]),
        },
      },
    },
  },
  schemas: {},
};
