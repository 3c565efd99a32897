// What `fal` asks for when it makes videos; what it makes of answers is in its recordings.
import { expect } from 'chai';
import plugin from '../../providers/fal/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

const ACCEPTED = { request_id: '42' };

describe('provider fal, videos', () => {
  const studio = useStudio(plugin, '');

  it('asks for a video from text, and looks at the app alone', async () => {
    const { ref, body } = await studio.start({ ...PORTRAIT, model: 'owner/app/text' }, ACCEPTED);
    expect(studio.sent[0]).to.include({ method: 'POST', path: '/owner/app/text' });
    expect(body).to.deep.equal({
      prompt: 'A red square turns',
      duration: '5',
      aspect_ratio: '9:16',
      resolution: '720p',
    });
    await studio.look(ref, { status: 'COMPLETED' }, { video: { url: 'https://films.example/1.mp4' } });
    expect(studio.sent.map(({ path }) => path).slice(1)).to.deep.equal([
      '/owner/app/requests/42/status',
      '/owner/app/requests/42',
    ]);
  });

  it('asks elsewhere for a video from an image, in the template and the words of the route', async () => {
    const options = {
      editModel: 'owner/app/image',
      input: { text: '{prompt}', length: '{seconds}', first: '{image}', shape: '{aspect}', size: '{resolution}' },
      resolutions: { '720p': { quality: 'hd' } },
    };
    const { body } = await studio.start({ image: IMAGE, options }, ACCEPTED);
    expect(studio.sent[0]?.path).to.equal('/owner/app/image');
    expect(body).to.deep.equal({
      text: 'A red square turns',
      length: 5,
      first: `data:image/png;base64,${IMAGE_BASE64}`,
      quality: 'hd',
    });
  });

  it('cancels what is given up', async () => {
    const { ref } = await studio.start({ model: 'owner/app/text' }, ACCEPTED);
    await studio.cancel(ref);
    expect(studio.sent[1]).to.include({ method: 'PUT', path: '/owner/app/requests/42/cancel' });
  });
});
