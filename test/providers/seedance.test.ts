// What `seedance` asks for; what it makes of answers is in its recordings.
import { expect } from 'chai';
import plugin from '../../providers/seedance/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

const PATH = '/api/v3/contents/generations/tasks';

describe('provider seedance', () => {
  const studio = useStudio(plugin, '/api/v3');

  it('asks for a video from text', async () => {
    const { body } = await studio.start(PORTRAIT, { id: 'cgt-1' });
    expect(studio.sent[0]).to.include({ method: 'POST', path: PATH });
    expect(studio.sent[0]?.headers).to.include({
      authorization: 'Bearer sk-films',
      'content-type': 'application/json',
    });
    expect(body).to.deep.equal({
      model: 'film-1',
      content: [{ type: 'text', text: 'A red square turns' }],
      ratio: '9:16',
      duration: 5,
      resolution: '720p',
    });
  });

  it('asks for a video from an image, without a resolution where the model has none', async () => {
    const { body } = await studio.start({ image: IMAGE, resolution: null }, { id: 'cgt-1' });
    const url = `data:image/png;base64,${IMAGE_BASE64}`;
    expect(body).to.deep.equal({
      model: 'film-1',
      content: [
        { type: 'text', text: 'A red square turns' },
        { type: 'image_url', role: 'first_frame', image_url: { url } },
      ],
      ratio: 'adaptive',
      duration: 5,
    });
  });

  it('looks at the task by its id', async () => {
    const { ref } = await studio.start({}, { id: 'cgt-1' });
    const state = await studio.look(ref, { status: 'succeeded', content: { video_url: 'https://cdn.example/1.mp4' } });
    expect(studio.sent[1]).to.include({ method: 'GET', path: `${PATH}/cgt-1` });
    expect(state).to.deep.equal({ status: 'completed', result: { url: 'https://cdn.example/1.mp4' } });
  });

  it('cancels what is given up', async () => {
    const { ref } = await studio.start({ model: 'owner/app/text' }, { id: 'cgt-1' });
    await studio.cancel(ref);
    expect(studio.sent[1]).to.include({ method: 'DELETE', path: `${PATH}/cgt-1` });
  });
});
