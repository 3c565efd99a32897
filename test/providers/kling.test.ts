// What `kling` asks for, and the tokens it makes of a key; what it makes of answers is in its recordings.
import { createHmac } from 'node:crypto';
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { checkSettings } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/kling/index.ts';
import { createAuth } from '../../providers/kling/token.ts';
import { IMAGE, IMAGE_BASE64, PORTRAIT, useStudio } from '../../testkit/films.ts';

const KEY = 'ak-1:sk-2';
const ACCEPTED = { code: 0, data: { task_id: '42', task_status: 'submitted' } };

describe('provider kling', () => {
  const studio = useStudio(plugin, '/v1', [KEY, 'ak-3:sk-4']);

  it('asks for a video from text, the seconds as text', async () => {
    const { body } = await studio.start(PORTRAIT, ACCEPTED);
    expect(studio.sent[0]).to.include({ method: 'POST', path: '/v1/videos/text2video' });
    expect(studio.sent[0]?.headers).to.include({ 'content-type': 'application/json' });
    expect(body).to.deep.equal({
      model_name: 'film-1',
      prompt: 'A red square turns',
      duration: '5',
      aspect_ratio: '9:16',
      mode: 'std',
    });
  });

  it('asks for a video from an image elsewhere, without an aspect, and looks there', async () => {
    const { ref, body } = await studio.start({ image: IMAGE, resolution: '1080p' }, ACCEPTED);
    expect(body).to.deep.equal({
      model_name: 'film-1',
      prompt: 'A red square turns',
      duration: '5',
      image: IMAGE_BASE64,
      mode: 'pro',
    });
    await studio.look(ref, ACCEPTED);
    expect(studio.sent.map(({ path }) => path)).to.deep.equal(['/v1/videos/image2video', '/v1/videos/image2video/42']);
  });

  it('asks for the plain mode where the model has no resolution', async () => {
    expect((await studio.start({ resolution: null }, ACCEPTED)).body).to.include({ mode: 'std' });
  });

  it('lets the route say the mode', async () => {
    const options = { resolutions: { '720p': 'pro' } };
    expect((await studio.start({ options }, ACCEPTED)).body).to.include({ mode: 'pro' });
  });

  it('looks with the account that began the job', async () => {
    const { ref } = await studio.start({}, ACCEPTED, { apiKey: ['ak-3:sk-4', KEY] });
    for (let look = 0; look < 3; look += 1) await studio.look(ref, ACCEPTED);
    const accounts = studio.sent.map(({ headers }) => claimsOf(headers.authorization).iss);
    expect(accounts).to.deep.equal(['ak-3', 'ak-3', 'ak-3', 'ak-3']);
  });

  it('takes keys of two halves only', () => {
    const check = (apiKey: unknown) => () => checkSettings({ plugin, upstream: 'main', settings: { apiKey } });
    for (const wrong of ['ak', ':', 'ak:', ':sk', 'a:b:c', 'a b:c', ['ak:sk', 'ak']]) {
      expect(check(wrong), JSON.stringify(wrong)).to.throw(OperatorError);
    }
    expect(check(KEY)).not.to.throw();
  });
});

describe('tokens of kling', () => {
  const HOUR = 3_600_000;
  const at = (ms: number) => {
    const { authorization } = createAuth({ now: () => ms })(KEY, new AbortController().signal) as Record<
      string,
      string
    >;
    return authorization as string;
  };

  it('are signed by HS256 with the secret, which is not in them', () => {
    const [head = '', claims = '', signature] = at(HOUR).slice('Bearer '.length).split('.');
    expect(JSON.parse(Buffer.from(head, 'base64url').toString())).to.deep.equal({ alg: 'HS256', typ: 'JWT' });
    expect(signature).to.equal(createHmac('sha256', 'sk-2').update(`${head}.${claims}`).digest('base64url'));
    expect(claimsOf(at(HOUR))).to.deep.equal({ iss: 'ak-1', exp: 3600 + 1800, nbf: 3600 - 60 });
    expect(Buffer.from(claims, 'base64url').toString()).not.to.include('sk-2');
  });

  it('are renewed long before they end, and valid whenever they are sent', () => {
    expect(at(HOUR + 899_999)).to.equal(at(HOUR));
    expect(at(HOUR + 900_000)).not.to.equal(at(HOUR));
    for (let ms = HOUR; ms < 2 * HOUR; ms += 7_777) {
      const { exp, nbf } = claimsOf(at(ms));
      expect(exp - ms / 1000).to.be.within(900, 1800);
      expect(nbf).to.be.at.most(ms / 1000 - 60);
    }
  });
});

function claimsOf(authorization: string | undefined): { iss: string; exp: number; nbf: number } {
  return JSON.parse(Buffer.from(authorization?.split('.')[1] ?? '', 'base64url').toString());
}
