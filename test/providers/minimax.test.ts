// What `minimax` asks for in both versions of the API; what it makes of answers is in its recordings.
import { expect } from 'chai';
import { parseExactJson } from '../../lib/base/exact-json.ts';
import plugin from '../../providers/minimax/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

const ACCEPTED = { task_id: '42', base_resp: { status_code: 0, status_msg: 'success' } };
const PICTURE_URL = `data:image/png;base64,${IMAGE_BASE64}`;

describe('provider minimax', () => {
  const studio = useStudio(plugin, '/v1', ['sk-1', 'sk-2']);

  const second = () => ({ baseUrl: `${studio.origin}/v2` });
  const paths = () => studio.sent.map(({ path }) => path);

  it('asks version 1 for a video, the label of its resolution in capitals', async () => {
    const { body } = await studio.start({ resolution: '768p' }, ACCEPTED);
    expect(studio.sent[0]).to.include({ method: 'POST', path: '/v1/video_generation' });
    expect(studio.sent[0]?.headers).to.include({ authorization: 'Bearer sk-1', 'content-type': 'application/json' });
    expect(body).to.deep.equal({ model: 'film-1', prompt: 'A red square turns', duration: 5, resolution: '768P' });
  });

  it('asks version 1 for a video from an image, and for no resolution where the model has none', async () => {
    const { body } = await studio.start({ image: IMAGE, resolution: null }, ACCEPTED);
    expect(body).to.deep.equal({
      model: 'film-1',
      prompt: 'A red square turns',
      duration: 5,
      first_frame_image: PICTURE_URL,
    });
  });

  it('fetches the URL of a file by every digit of its number', async () => {
    const { ref } = await studio.start({}, ACCEPTED);
    const task = parseExactJson('{"status":"Success","file_id":1954321098765432103}') as object;
    await studio.look(ref, task, { file: { download_url: 'https://cdn.example/1.mp4' } });
    expect(paths().at(-1)).to.equal('/v1/files/retrieve?file_id=1954321098765432103');
  });

  it('fetches the URL of the file with the key that began the task, from a ref that has been stored', async () => {
    const { ref } = await studio.start({}, ACCEPTED, { apiKey: ['sk-2', 'sk-1'] });
    await studio.look(ref, { status: 'Processing' });
    const file = { file: { download_url: 'https://cdn.example/1.mp4' }, base_resp: { status_code: 0 } };
    const state = await studio.look(ref, { status: 'Success', file_id: 'a/7&b' }, file);
    expect(state).to.deep.equal({ status: 'completed', result: { url: 'https://cdn.example/1.mp4' } });
    const query = '/v1/query/video_generation?task_id=42';
    expect(paths()).to.deep.equal(['/v1/video_generation', query, query, '/v1/files/retrieve?file_id=a%2F7%26b']);
    expect(new Set(studio.sent.map(({ headers }) => headers.authorization))).to.deep.equal(new Set(['Bearer sk-2']));
  });

  it('goes on while a finished task names no file yet, and asks for none', async () => {
    for (const task of [{}, { file_id: '' }, { file_id: null }]) {
      const { ref } = await studio.start({}, ACCEPTED);
      const state = await studio.look(ref, { status: 'Success', ...task });
      expect(state).to.deep.equal({ status: 'processing', lacksResult: true });
    }
    expect(paths().filter((path) => path?.includes('/files/'))).to.deep.equal([]);
  });

  it('asks version 2 with a list of contents and a ratio', async () => {
    const { body } = await studio.start(PORTRAIT, { task_id: '42' }, second());
    expect(paths()).to.deep.equal(['/v2/video_generation']);
    expect(body).to.deep.equal({
      model: 'film-1',
      content: [{ type: 'text', text: 'A red square turns' }],
      duration: 5,
      ratio: '9:16',
      resolution: '720P',
    });
  });

  it('asks version 2 for a video from an image by the route, and looks there', async () => {
    const options = { ...second(), resolutions: { '720p': '2K' } };
    const { ref, body } = await studio.start({ image: IMAGE, options }, { task_id: '42' });
    expect(body).to.deep.equal({
      model: 'film-1',
      content: [
        { type: 'text', text: 'A red square turns' },
        { type: 'image_url', role: 'first_frame', image_url: { url: PICTURE_URL } },
      ],
      duration: 5,
      resolution: '2K',
    });
    const state = await studio.look(ref, {
      task: { status: 'succeeded', content: { url: 'https://cdn.example/2.mp4' } },
    });
    expect(state).to.deep.equal({ status: 'completed', result: { url: 'https://cdn.example/2.mp4' } });
    expect(paths()[1]).to.equal('/v2/query/video_generation/42');
  });
});
