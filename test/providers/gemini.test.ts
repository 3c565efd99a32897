import { expect } from 'chai';
import type { ImageCall, TextCall } from '../../lib/upstream/contract/provider.ts';
import { checkSettings } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/gemini/index.ts';
import { HELLO, type Sent, useVendor } from '../../testkit/vendor.ts';

const ORIGIN = 'https://generate.example';
const KEY = 'AIza-test-0123456789';
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const ANSWER = 'data: {"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}\n\n';
const DRAWN = {
  candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: PNG.toString('base64') } }] } }],
};

const CALL: TextCall = { ...HELLO, model: 'gemini-x' };
const DRAW: ImageCall = { model: 'draw-x', prompt: 'A fox', images: [], options: {} };

describe('gemini', () => {
  const vendor = useVendor(plugin, ORIGIN, { baseUrl: `${ORIGIN}/v1beta`, apiKey: KEY });

  async function ask(call: Partial<TextCall> = {}, settings: object = {}): Promise<Sent> {
    const { sent, parts } = await vendor.tell(vendor.open(settings), { ...CALL, ...call }, ANSWER);
    expect(parts).to.deep.include({ type: 'block-delta', index: 0, text: 'Hi' });
    return sent;
  }

  async function draw(call: Partial<ImageCall> = {}, settings: object = {}): Promise<Sent> {
    vendor.answer(DRAWN);
    const result = await vendor.open(settings).image?.({ ...DRAW, ...call }, new AbortController().signal);
    expect(result?.images).to.deep.equal([{ bytes: PNG }]);
    return vendor.sent.at(-1) as Sent;
  }

  const configOf = async (call: Partial<ImageCall>, settings: object = {}) =>
    ((await draw(call, settings)).body.generationConfig as { imageConfig: object }).imageConfig;

  it('asks for a stream of events and sends nothing else', async () => {
    const { path, headers, body } = await ask();
    expect(path).to.equal('/v1beta/models/gemini-x:streamGenerateContent?alt=sse');
    expect(headers['x-goog-api-key']).to.equal(KEY);
    expect(headers).not.to.have.property('authorization');
    expect(body).to.deep.equal({
      contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
      generationConfig: { maxOutputTokens: 64 },
    });
  });

  it('sends five stop strings at most, and what it knows of a sampling', async () => {
    const stops = ['a', 'b', 'c', 'd', 'e', 'f'];
    const sampling = { temperature: 0.5, topP: 0.6, topK: 7, seed: 2 ** 31 + 8, frequencyPenalty: 1 };
    expect((await ask({ stops, sampling })).body.generationConfig).to.deep.equal({
      ...{ maxOutputTokens: 64, stopSequences: stops.slice(0, 5) },
      ...{ temperature: 0.5, topP: 0.6, topK: 7, seed: 8 },
    });
  });

  it('takes a base URL with slashes at its end, and one of a route', async () => {
    expect((await ask({}, { baseUrl: `${ORIGIN}/v1beta//` })).path).to.match(/^\/v1beta\/models\//);
    expect((await ask({ options: { baseUrl: `${ORIGIN}/v2` } })).path).to.match(/^\/v2\/models\//);
  });

  it('asks for an image and nothing else', async () => {
    const { path, headers, body } = await draw();
    expect(path).to.equal('/v1beta/models/draw-x:generateContent');
    expect(headers['x-goog-api-key']).to.equal(KEY);
    expect(body).to.deep.equal({
      contents: [{ role: 'user', parts: [{ text: 'A fox' }] }],
      generationConfig: { responseModalities: ['IMAGE'], imageConfig: {} },
    });
  });

  describe('asks for the nearest aspect that is drawn', () => {
    const rows: readonly (readonly [call: Partial<ImageCall>, aspectRatio: string | undefined])[] = [
      [{ size: { width: 1024, height: 1024 } }, '1:1'],
      [{ size: { width: 1792, height: 1024 } }, '16:9'],
      [{ size: { width: 1024, height: 1536 } }, '2:3'],
      [{ size: { width: 4000, height: 1000 } }, '21:9'],
      [{ size: { width: 1000, height: 4000 } }, '9:16'],
      [{ aspect: '3:4' }, '3:4'],
      [{ aspect: '2:1' }, '16:9'],
      [{ aspect: '16:9', size: { width: 1024, height: 1024 } }, '16:9'],
      [{ aspect: 'wide' }, undefined],
      [{}, undefined],
    ];
    for (const [call, aspectRatio] of rows) {
      it(`${JSON.stringify(call)} is ${aspectRatio}`, async () => {
        expect(await configOf(call)).to.deep.equal(aspectRatio === undefined ? {} : { aspectRatio });
      });
    }
  });

  it('names a size only where the route maps it', async () => {
    const size = { width: 2048, height: 2048 };
    const options = { sizeMap: { '2048x2048': '2K' } };
    expect(await configOf({ size, options })).to.deep.equal({ aspectRatio: '1:1', imageSize: '2K' });
    expect(await configOf({ size }, options)).to.deep.equal({ aspectRatio: '1:1', imageSize: '2K' });
    expect(await configOf({ size: { width: 1024, height: 1024 }, options })).to.deep.equal({ aspectRatio: '1:1' });
  });

  it('refuses a map of anything but sizes', () => {
    for (const sizeMap of [{ big: '2K' }, { '1x1': 2 }, '2K']) {
      const check = () => checkSettings({ plugin, upstream: 'main', settings: { sizeMap } });
      expect(check, JSON.stringify(sizeMap)).to.throw(/sizeMap/);
    }
  });
});
