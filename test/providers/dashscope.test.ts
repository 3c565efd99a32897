// What `dashscope` asks for; what it makes of answers is in its recordings.
import { expect } from 'chai';
import plugin from '../../providers/dashscope/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

const ACCEPTED = { output: { task_id: 't1', task_status: 'PENDING' } };

describe('provider dashscope', () => {
  const studio = useStudio(plugin, '/api/v1');

  it('asks for a video from text by its size, asynchronously', async () => {
    const { body } = await studio.start(PORTRAIT, ACCEPTED);
    const path = '/api/v1/services/aigc/video-generation/video-synthesis';
    expect(studio.sent[0]).to.include({ method: 'POST', path });
    expect(studio.sent[0]?.headers).to.include({ authorization: 'Bearer sk-films', 'x-dashscope-async': 'enable' });
    expect(body).to.deep.equal({
      model: 'film-1',
      input: { prompt: 'A red square turns' },
      parameters: { duration: 5, size: '720*1280' },
    });
  });

  it('asks for a video from an image by its resolution', async () => {
    const { body } = await studio.start({ image: IMAGE }, ACCEPTED);
    expect(body).to.deep.equal({
      model: 'film-1',
      input: { prompt: 'A red square turns', img_url: `data:image/png;base64,${IMAGE_BASE64}` },
      parameters: { duration: 5, resolution: '720P' },
    });
  });

  it('asks the model for first frames, if the route names one, for a video from an image', async () => {
    const { body } = await studio.start({ image: IMAGE, options: { editModel: 'film-1-i2v' } }, ACCEPTED);
    expect(body).to.include({ model: 'film-1-i2v' });
    const text = await studio.start({ options: { editModel: 'film-1-i2v' } }, ACCEPTED);
    expect(text.body).to.include({ model: 'film-1' });
  });

  it('does not ask a model that takes text alone for a video from an image', async () => {
    const started = await studio.start({ image: IMAGE, model: 'wan2.6-t2v' }, ACCEPTED).catch((error) => error);
    expect(started).to.include({ kind: 'request' });
    expect(studio.sent).to.deep.equal([]);
  });

  it('looks at the task by its id', async () => {
    const { ref } = await studio.start({}, ACCEPTED);
    const done = { output: { task_status: 'SUCCEEDED', video_url: 'https://cdn.example/1.mp4' } };
    const state = await studio.look(ref, done);
    expect(studio.sent[1]).to.include({ method: 'GET', path: '/api/v1/tasks/t1' });
    expect(state).to.deep.equal({ status: 'completed', result: { url: 'https://cdn.example/1.mp4' } });
  });

  it('cancels what is given up', async () => {
    const { ref } = await studio.start({ model: 'owner/app/text' }, ACCEPTED);
    await studio.cancel(ref);
    expect(studio.sent[1]).to.include({ method: 'POST', path: '/api/v1/tasks/t1/cancel' });
  });
});
