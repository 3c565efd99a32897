import { expect } from 'chai';
import { chatFace, faceAt, mediaFace, messageFace, plainFace } from '../../lib/api/response-styles.ts';

describe('face of a path without a route', () => {
  it('is that of the routes beside it', () => {
    const faces = { chatFace, messageFace, mediaFace, plainFace };
    for (const [path, face] of [
      ['/api/v1/chat/completions', 'chatFace'],
      ['/api/v1/chat/completions/', 'chatFace'],
      ['/api/v1/chat/completions/more', 'chatFace'],
      ['/api/v1/chat/completionsmore', 'messageFace'],
      ['/api/v1/messages', 'messageFace'],
      ['/api/v1/nope', 'messageFace'],
      ['/media/', 'mediaFace'],
      ['/media/a/b', 'mediaFace'],
      ['/media', 'plainFace'],
      ['/mediation', 'plainFace'],
      ['/', 'plainFace'],
      ['/metrics', 'plainFace'],
    ] as const) {
      expect(faceAt(path), path).to.equal(faces[face]);
    }
  });

  it('lets pages read pictures and videos, which may not run anything, and nothing of the operator', () => {
    expect(plainFace.headers).to.deep.equal({});
    expect(mediaFace.headers).to.include({
      'access-control-allow-origin': '*',
      'cross-origin-resource-policy': 'cross-origin',
      'content-security-policy': "sandbox; default-src 'none'",
      'x-content-type-options': 'nosniff',
    });
    expect(mediaFace.headers['access-control-expose-headers']).to.match(/accept-ranges, content-range, etag$/);
  });
});
