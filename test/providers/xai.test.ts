// What `xai` asks for; what it makes of answers is in its recordings.
import { expect } from 'chai';
import plugin from '../../providers/xai/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

describe('provider xai', () => {
  const studio = useStudio(plugin, '/v1');

  it('asks for a video from text', async () => {
    const { body } = await studio.start(PORTRAIT, { request_id: 'r1' });
    expect(studio.sent[0]).to.include({ method: 'POST', path: '/v1/videos/generations' });
    expect(studio.sent[0]?.headers).to.include({
      authorization: 'Bearer sk-films',
      'content-type': 'application/json',
    });
    expect(body).to.deep.equal({
      model: 'film-1',
      prompt: 'A red square turns',
      duration: 5,
      aspect_ratio: '9:16',
      resolution: '720p',
    });
  });

  it('asks for a video from an image, without an aspect, and without a resolution where the model has none', async () => {
    const { body } = await studio.start({ image: IMAGE, resolution: null }, { request_id: 'r1' });
    const image = { url: `data:image/png;base64,${IMAGE_BASE64}` };
    expect(body).to.deep.equal({ model: 'film-1', prompt: 'A red square turns', duration: 5, image });
  });

  for (const [what, told, state] of [
    ['a flag', { status: 'done', video: { respect_moderation: false } }, 'content'],
    ['a reason', { status: 'done', error: 'It is unkind' }, 'content'],
    ['neither', { status: 'done', video: { respect_moderation: true } }, 'processing'],
    [
      'a flag and a film',
      { status: 'done', video: { respect_moderation: false, url: 'https://cdn.example/1.mp4' } },
      'completed',
    ],
    [
      'a film and no status',
      { video: { url: 'https://cdn.example/1.mp4', duration: 5 }, model: 'film-1' },
      'completed',
    ],
    ['a flag and no status', { video: { respect_moderation: false } }, 'content'],
  ] as const) {
    it(`takes an end with ${what} for ${state}`, async () => {
      const { ref } = await studio.start({}, { request_id: 'r1' });
      const found = await studio.look(ref, told);
      expect(found.status === 'failed' ? found.fault.about : found.status).to.equal(state);
    });
  }

  it('tells how far the film is', async () => {
    const { ref } = await studio.start({}, { request_id: 'r1' });
    expect(await studio.look(ref, { status: 'pending', progress: 30 })).to.include({ progress: 30 });
  });

  it('looks at the request beside where it was made', async () => {
    const { ref } = await studio.start({}, { request_id: 'r1' });
    const state = await studio.look(ref, { status: 'done', video: { url: 'https://cdn.example/1.mp4' } });
    expect(studio.sent[1]).to.include({ method: 'GET', path: '/v1/videos/r1' });
    expect(state).to.deep.equal({ status: 'completed', result: { url: 'https://cdn.example/1.mp4' } });
  });
});
