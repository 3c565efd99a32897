// What `gemini` asks for when it makes videos; what it makes of answers is in its recordings.
import { expect } from 'chai';
import plugin from '../../providers/gemini/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

const NAME = 'models/film-1/operations/42';

describe('provider gemini, videos', () => {
  const studio = useStudio(plugin, '/v1beta', ['sk-films', 'sk-other']);

  it('asks for a video from text', async () => {
    const { ref, body } = await studio.start(PORTRAIT, { name: NAME });
    expect(studio.sent[0]).to.include({ method: 'POST', path: '/v1beta/models/film-1:predictLongRunning' });
    expect(studio.sent[0]?.headers).to.include({ 'x-goog-api-key': 'sk-films' });
    expect(body).to.deep.equal({
      instances: [{ prompt: 'A red square turns' }],
      parameters: { aspectRatio: '9:16', durationSeconds: 5, resolution: '720p' },
    });
    await studio.look(ref, { name: NAME });
    expect(studio.sent[1]?.path).to.equal(`/v1beta/${NAME}`);
  });

  it('asks for a video from an image, in the words of the route', async () => {
    const options = { resolutions: { '1080p': 'full' } };
    const { body } = await studio.start({ image: IMAGE, resolution: '1080p', options }, { name: NAME });
    expect(body).to.deep.equal({
      instances: [{ prompt: 'A red square turns', image: { bytesBase64Encoded: IMAGE_BASE64, mimeType: 'image/png' } }],
      parameters: { aspectRatio: '16:9', durationSeconds: 5, resolution: 'full' },
    });
  });

  it('fetches the film with the key that began it', async () => {
    const { ref } = await studio.start({}, { name: NAME }, { apiKey: ['sk-other', 'sk-films'] });
    const uri = `${studio.origin}/v1beta/files/1:download?alt=media`;
    const response = { generateVideoResponse: { generatedSamples: [{ video: { uri } }] } };
    expect(await studio.look(ref, { name: NAME, done: true, response })).to.deep.equal({
      status: 'completed',
      result: { url: uri, headers: { 'x-goog-api-key': 'sk-other' } },
    });
  });

  for (const [what, operation, state] of [
    [
      'goes on until it is done, whatever else it says',
      { error: { code: 13, message: 'x' } },
      { status: 'processing' },
    ],
    ['has failed with an error, which says why', { done: true, error: { code: 8, message: 'quota' } }, 'server'],
    [
      'has failed where the film was removed',
      { done: true, response: { generateVideoResponse: { raiMediaFilteredReasons: ['unsafe', 'unkind'] } } },
      'request/content',
    ],
    [
      'has failed where the film was removed without a reason',
      { done: true, response: { generateVideoResponse: { raiMediaFilteredCount: 1 } } },
      'request/content',
    ],
    [
      'has failed where the film was removed, said without the wrapper',
      { done: true, response: { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['unsafe'] } },
      'request/content',
    ],
    ['goes on where there is no film yet', { done: true, response: {} }, { status: 'processing', lacksResult: true }],
  ] as const) {
    it(what, async () => {
      const { ref } = await studio.start({}, { name: NAME });
      const found = await studio.look(ref, { name: NAME, ...operation });
      if (typeof state === 'object') return void expect(found).to.deep.equal(state);
      if (found.status !== 'failed') return expect.fail(found.status);
      const { kind, about } = found.fault;
      expect(about === undefined ? kind : `${kind}/${about}`).to.equal(state);
    });
  }
});
