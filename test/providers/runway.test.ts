// What `runway` asks for; what it makes of answers is in its recordings.
import { expect } from 'chai';
import plugin from '../../providers/runway/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

describe('provider runway', () => {
  const studio = useStudio(plugin, '/v1');

  it('asks for a video from text, the ratio in pixels', async () => {
    const { body } = await studio.start(PORTRAIT, { id: 't1' });
    expect(studio.sent[0]).to.include({ method: 'POST', path: '/v1/text_to_video' });
    expect(studio.sent[0]?.headers).to.include({ authorization: 'Bearer sk-films', 'x-runway-version': '2024-11-06' });
    expect(body).to.deep.equal({
      model: 'film-1',
      promptText: 'A red square turns',
      duration: 5,
      ratio: '720:1280',
    });
  });

  it('asks for a video from an image elsewhere, and looks at tasks of both in one place', async () => {
    const { ref, body } = await studio.start({ image: IMAGE }, { id: 't1' });
    expect(body).to.deep.equal({
      model: 'film-1',
      promptText: 'A red square turns',
      duration: 5,
      promptImage: `data:image/png;base64,${IMAGE_BASE64}`,
      ratio: '1280:720',
    });
    const state = await studio.look(ref, { status: 'SUCCEEDED', output: ['https://cdn.example/1.mp4'] });
    expect(studio.sent.map(({ path }) => path)).to.deep.equal(['/v1/image_to_video', '/v1/tasks/t1']);
    expect(studio.sent[1]?.headers).to.include({ 'x-runway-version': '2024-11-06' });
    expect(state).to.deep.equal({ status: 'completed', result: { url: 'https://cdn.example/1.mp4' } });
  });

  it('tells how far the film is', async () => {
    const { ref } = await studio.start({}, { id: 't1' });
    expect(await studio.look(ref, { status: 'RUNNING', progress: 0.42 })).to.deep.equal({
      status: 'processing',
      progress: 42,
    });
  });

  for (const [failureCode, failure, kind, about, detail] of [
    ['SAFETY.INPUT.TEXT', 'No', 'request', 'content', 'moderation: No'],
    ['INPUT_PREPROCESSING.SAFETY.TEXT', undefined, 'request', 'content', /SAFETY/],
    ['OUTPUT.SAFETY', undefined, 'request', 'content', /SAFETY/],
    ['ASSET.INVALID', 'No', 'request', 'image', 'invalid_image: No'],
    ['INTERNAL.BAD_OUTPUT.CODE01', undefined, 'server', undefined, /INTERNAL/],
    ['UNSAFETY', 'No', 'server', undefined, 'unsafety: No'],
    [undefined, 'No', 'server', undefined, 'No'],
  ] as const) {
    it(`calls ${failureCode} a fault of kind ${kind}, about ${about ?? 'nothing'}`, async () => {
      const { ref } = await studio.start({}, { id: 't1' });
      const state = await studio.look(ref, { status: 'FAILED', failure, failureCode });
      if (state.status !== 'failed') return expect.fail(state.status);
      expect([state.fault.kind, state.fault.about]).to.deep.equal([kind, about]);
      expect(state.fault.detail).to.match(detail instanceof RegExp ? detail : new RegExp(`^${detail}$`));
    });
  }

  it('lets the route spell the ratio', async () => {
    const options = { resolutions: { '720p': '1584:672' } };
    expect((await studio.start({ options }, { id: 't1' })).body).to.include({ ratio: '1584:672' });
  });
});
