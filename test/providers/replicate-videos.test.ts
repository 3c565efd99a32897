// What `replicate` asks for when it makes videos; what it makes of answers is in its recordings.
import { expect } from 'chai';
import plugin from '../../providers/replicate/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

const CREATED = { id: '42', status: 'starting' };

describe('provider replicate, videos', () => {
  const studio = useStudio(plugin, '/v1');

  it('asks for a video from text, and looks at its prediction', async () => {
    const { ref, body } = await studio.start({ ...PORTRAIT, model: 'owner/name' }, CREATED);
    expect(studio.sent[0]).to.include({ method: 'POST', path: '/v1/models/owner/name/predictions' });
    expect(body).to.deep.equal({
      input: { prompt: 'A red square turns', duration: 5, aspect_ratio: '9:16', resolution: '720p' },
    });
    const url = 'https://films.example/1.mp4';
    expect(await studio.look(ref, { ...CREATED, status: 'succeeded', output: { url } })).to.deep.equal({
      status: 'completed',
      result: { url },
    });
    expect(studio.sent[1]?.path).to.equal('/v1/predictions/42');
  });

  it('takes the first of several films', async () => {
    const { ref } = await studio.start({}, CREATED);
    const output = ['https://films.example/1.mp4', 'https://films.example/2.mp4'];
    expect(await studio.look(ref, { ...CREATED, status: 'succeeded', output })).to.deep.equal({
      status: 'completed',
      result: { url: 'https://films.example/1.mp4' },
    });
  });

  it('has failed where it was given up', async () => {
    for (const status of ['failed', 'canceled', 'aborted']) {
      const { ref } = await studio.start({}, CREATED);
      expect(await studio.look(ref, { ...CREATED, status }), status).to.include({ status: 'failed' });
    }
  });

  it('reads predictions that repeat a large first frame', async () => {
    const input = { image: `data:image/png;base64,${'A'.repeat(11_000_000)}` };
    const { ref } = await studio.start({ image: IMAGE }, { ...CREATED, input });
    const url = 'https://films.example/1.mp4';
    expect(await studio.look(ref, { ...CREATED, status: 'succeeded', output: url, input })).to.deep.equal({
      status: 'completed',
      result: { url },
    });
  });

  it('asks for a video from an image, in the template and the words of the route', async () => {
    const options = {
      input: { text: '{prompt}', first: '{image}', size: '{resolution}' },
      resolutions: { '720p': 'hd' },
    };
    const { body } = await studio.start({ image: IMAGE, options }, CREATED);
    const first = `data:image/png;base64,${IMAGE_BASE64}`;
    expect(body).to.deep.equal({ input: { text: 'A red square turns', first, size: 'hd' } });
  });
});
