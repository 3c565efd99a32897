// What `openai-videos` asks for; what it makes of answers is in its recordings.
import { expect } from 'chai';
import plugin from '../../providers/openai-videos/index.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

describe('provider openai-videos', () => {
  const studio = useStudio(plugin, '/v1', ['sk-films', 'sk-other']);

  const fieldsOf = (body: unknown) => {
    const pairs = String(body).matchAll(/name="([^"]+)"\r\n\r\n([^\r]*)\r\n/g);
    return Object.fromEntries([...pairs].map(([, name, value]) => [name, value]));
  };

  it('sends a form with nothing but what was asked for, all of it text', async () => {
    const { body } = await studio.start({}, { id: 'v1' });
    expect(fieldsOf(body)).to.deep.equal({
      model: 'film-1',
      prompt: 'A red square turns',
      seconds: '5',
      size: '1280x720',
    });
    expect(body).not.to.include('input_reference');
    expect(studio.sent[0]).to.deep.include({ method: 'POST', path: '/v1/videos' });
    expect(studio.sent[0]?.headers['content-type']).to.match(/^multipart\/form-data; boundary=/);
  });

  it('says how the video stands by its size, also for a model without labels', async () => {
    expect(fieldsOf((await studio.start(PORTRAIT, { id: 'v1' })).body)).to.include({ size: '720x1280' });
    const { body } = await studio.start({ resolution: null }, { id: 'v1' });
    expect(fieldsOf(body)).to.include({ size: '1280x720' });
  });

  it('lets the route spell the resolution, and turns it for a portrait', async () => {
    const options = { resolutions: { '720p': '1792x1024' } };
    const { body } = await studio.start({ ...PORTRAIT, options }, { id: 'v1' });
    expect(fieldsOf(body)).to.include({ size: '1024x1792' });
  });

  it('names the first frame by its format', async () => {
    const { body } = await studio.start({ image: { ...IMAGE, mediaType: 'image/jpeg' } }, { id: 'v1' });
    expect(body).to.include(
      'name="input_reference"; filename="image.jpeg"\r\ncontent-type: image/jpeg\r\n\r\n\x01\x02\x03',
    );
  });

  it('looks where the route sent the job, and not where the settings would', async () => {
    const options = { baseUrl: `${studio.origin}/other/v1/` };
    const { ref } = await studio.start({ options }, { id: 'v/1' });
    expect(ref).to.include({ id: 'v/1', url: `${studio.origin}/other/v1/videos/v%2F1` });
    const state = await studio.look(ref, { status: 'completed' });
    expect(studio.sent[1]).to.include({ method: 'GET', path: '/other/v1/videos/v%2F1' });
    expect(state).to.have.nested.property('result.url', `${studio.origin}/other/v1/videos/v%2F1/content`);
  });

  it('keeps the query string of the base URL at the end', async () => {
    const options = { baseUrl: `${studio.origin}/openai/v1?api-version=preview` };
    const { ref } = await studio.start({ options }, { id: 'v1' });
    const state = await studio.look(ref, { status: 'completed' });
    expect(studio.sent.map(({ path }) => path)).to.deep.equal([
      '/openai/v1/videos?api-version=preview',
      '/openai/v1/videos/v1?api-version=preview',
    ]);
    const content = `${studio.origin}/openai/v1/videos/v1/content?api-version=preview`;
    expect(state).to.have.nested.property('result.url', content);
  });

  it('sends what the route spells as an object as fields of the form, in JSON where a field is no text', async () => {
    const options = { resolutions: { '720p': { shape: { width: 1280 }, quality: 'high' } } };
    const { body } = await studio.start({ options }, { id: 'v1' });
    expect(fieldsOf(body)).to.include({ shape: '{"width":1280}', quality: 'high' }).and.not.have.property('size');
  });

  it('asks OpenRouter in JSON, with a label and an aspect', async () => {
    const options = { api: 'openrouter' };
    const asked = { model: 'film-1', prompt: 'A red square turns', duration: 5, resolution: '720p' };
    const { ref, body } = await studio.start({ ...PORTRAIT, options }, { id: 'v1', status: 'pending' });
    expect(body).to.deep.equal({ ...asked, aspect_ratio: '9:16' });
    expect(studio.sent[0]).to.include({ method: 'POST', path: '/v1/videos' });
    expect((await studio.start({ image: IMAGE, options }, { id: 'v1' })).body).to.deep.equal({
      ...asked,
      frame_images: [
        {
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${IMAGE_BASE64}` },
          frame_type: 'first_frame',
        },
      ],
    });
    expect(await studio.look(ref, { id: 'v1', status: 'pending' })).to.deep.equal({ status: 'queued' });
    const unsigned_urls = ['https://openrouter.ai/api/v1/videos/v1/content?index=0'];
    const state = await studio.look(ref, { id: 'v1', status: 'completed', unsigned_urls, usage: { cost: 0.2 } });
    expect(state).to.have.nested.property('result.url', `${studio.origin}/v1/videos/v1/content`);
    expect(state).to.have.nested.property('result.headers.authorization');
  });

  it('tells how far the film is', async () => {
    const { ref } = await studio.start({}, { id: 'v1' });
    expect(await studio.look(ref, { status: 'in_progress', progress: 42 })).to.deep.equal({
      status: 'processing',
      progress: 42,
    });
  });

  it('fetches the film with the key that began it', async () => {
    const { ref } = await studio.start({}, { id: 'v1' }, { apiKey: ['sk-other', 'sk-films'] });
    expect(await studio.look(ref, { status: 'completed' })).to.have.nested.property(
      'result.headers.authorization',
      'Bearer sk-other',
    );
  });

  it('asks servers without keys without one', async () => {
    await studio.start({}, { id: 'v1' }, { apiKey: undefined });
    expect(studio.sent[0]?.headers).not.to.have.property('authorization');
  });
});
