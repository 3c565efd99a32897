// What the API document says to callers, word for word; what it says of management is recorded with its replies.
import { MANAGE } from '../../lib/api/management/routes.ts';
import { describeApi } from '../../lib/api/openapi/document.ts';
import { expectRecorded } from '../../testkit/recorded.ts';
import type { Json } from './document.ts';

describe('the API document', () => {
  it('says to callers what is recorded', () => {
    const { paths, components, ...more } = describeApi('https://gateway.example') as Json;
    const { schemas, ...others } = components;
    const parts = [
      ...Object.entries({ ...more, ...others }),
      ...Object.entries(paths).filter(([path]) => !path.startsWith(`${MANAGE}/`)),
      ...Object.entries(schemas).filter(([name]) => !name.startsWith('Managed')),
    ];
    const texts = parts.map(([name, part]) => `===== ${name}\n${JSON.stringify(part, null, 1)}`);
    expectRecorded(
      new URL('openapi-recorded.txt', import.meta.url),
      texts.map((text) => text.replaceAll(/\n {4,}/g, ' ')),
    );
  });
});
