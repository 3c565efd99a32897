import { expect } from 'chai';
import { chatStyle, mediaStyle, messageStyle, plainStyle, styleAt } from '../../lib/api/response-styles.ts';

describe('response style of a path without a route', () => {
  it('is that of neighbouring routes', () => {
    const styles = { chat: chatStyle, message: messageStyle, media: mediaStyle, plain: plainStyle };
    for (const [path, style] of [
      ['/api/v1/chat/completions', 'chat'],
      ['/api/v1/chat/completions/', 'chat'],
      ['/api/v1/chat/completions/more', 'chat'],
      ['/api/v1/chat/completionsmore', 'message'],
      ['/api/v1/responses', 'chat'],
      ['/api/v1/responses/resp_1', 'chat'],
      ['/api/v1/messages', 'message'],
      ['/api/v1/nope', 'message'],
      ['/media/', 'media'],
      ['/media/a/b', 'media'],
      ['/media', 'plain'],
      ['/mediation', 'plain'],
      ['/', 'plain'],
      ['/metrics', 'plain'],
    ] as const) {
      expect(styleAt(path), path).to.equal(styles[style]);
    }
  });

  it('lets other origins read media, which cannot run scripts, but nothing for operators', () => {
    expect(plainStyle.headers).to.deep.equal({});
    expect(mediaStyle.headers).to.include({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
    expect(mediaStyle.headers['access-control-expose-headers']).to.match(/accept-ranges, content-range, etag$/);
  });
});
