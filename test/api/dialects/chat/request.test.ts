// What only a chat-style request has: images by `image_url`, and no system field.
import { expect } from 'chai';
import { parseChatRequest } from '../../../../lib/api/dialects/chat/request.ts';

const body = (content: unknown, more: object = {}) => ({ model: 'm', messages: [{ role: 'user', content }], ...more });

describe('chat-style request', () => {
  it('does not know a system field', () => {
    expect(parseChatRequest(body('hi', { system: 5 })).system).to.equal(undefined);
  });

  for (const url of [
    'https://x.example/a.png',
    'HTTPS://x.example/a.png',
    'data:image/png;base64,aGk=',
    'DATA:IMAGE/svg+xml;BASE64,aGk=',
  ]) {
    it(`counts the image ${url}`, () => {
      const detail = { url, detail: 'low' };
      expect(parseChatRequest(body([{ type: 'image_url', image_url: detail }]))).to.include({ images: 1 });
    });
  }

  it('takes a data URI of megabytes', () => {
    const url = `data:image/png;base64,${'a'.repeat(8 * 1024 * 1024)}`;
    expect(parseChatRequest(body([{ type: 'image_url', image_url: { url } }]))).to.include({ images: 1 });
  });

  for (const image of [
    undefined,
    null,
    'https://x.example/a.png',
    {},
    { url: 5 },
    { url: 'http://x.example/a.png' },
    { url: 'data:image/png,aGk=' },
    { url: 'data:text/html;base64,aGk=' },
    { url: ' data:image/png;base64,aGk=' },
    { url: 'javascript:alert(1)' },
  ]) {
    it(`refuses the image ${JSON.stringify(image)}`, () => {
      const content = [{ type: 'image_url', image_url: image }];
      expect(() => parseChatRequest(body(content))).to.throw('Invalid `messages[0].content[0].image_url.url`: ');
    });
  }
});
