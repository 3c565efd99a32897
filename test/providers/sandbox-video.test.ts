// The sandbox's videos: jobs by the clock, which any process can look at, and a film that a browser plays.
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { VideoProvider, VideoRef, VideoState } from '../../lib/upstream/contract/provider.ts';
import { checkSettings, createProvider } from '../../lib/upstream/host/settings.ts';
import plugin from '../../providers/sandbox/index.ts';
import { CALL } from '../../testkit/films.ts';

const signal = new AbortController().signal;
const START = 1_800_000_000_000;

describe('videos of the sandbox', () => {
  let now: number;
  beforeEach(() => {
    now = START;
  });

  /** Another process: a provider that has seen nothing. */
  function open(settings: object = {}): VideoProvider {
    const clock = { now: () => now, sleep: () => expect.fail('it waits') };
    const { provider } = createProvider({ plugin, upstream: 'sandbox', settings, log: { warn() {} }, clock });
    return provider.video ?? expect.fail('the sandbox makes no videos');
  }

  const start = (prompt: string) => open({ videoMs: 1000 }).start({ ...CALL, prompt }, signal);
  const look = (ref: VideoRef): Promise<VideoState> => open().poll(JSON.parse(JSON.stringify(ref)), signal);
  const lookAt = async (ref: VideoRef, ms: number) => {
    now = START + ms;
    return look(ref);
  };
  const thrownBy = (running: Promise<unknown>) =>
    running.then(
      () => expect.fail('it did not fail'),
      (error: unknown) => error,
    );

  it('wait, grow and are completed by the clock, in whatever process', async () => {
    const ref = await start('a square');
    expect(await look(ref)).to.deep.equal({ status: 'queued', progress: 0 });
    expect(await lookAt(ref, 100)).to.deep.equal({ status: 'processing', progress: 10 });
    expect(await lookAt(ref, 999)).to.deep.equal({ status: 'processing', progress: 99 });
    expect(await lookAt(ref, 1000)).to.have.property('status', 'completed');
    expect(await lookAt(ref, 9_000_000)).to.have.property('status', 'completed');
    now = START - 5000;
    expect(await look(ref)).to.deep.equal({ status: 'queued', progress: 0 });
  });

  it('take two seconds, and words no time, unless the settings say so', () => {
    const { settings } = checkSettings({ plugin, upstream: 'sandbox', settings: {} });
    expect(settings).to.deep.equal({ wordMs: 0, videoMs: 2000 });
  });

  it('are jobs of their own', async () => {
    expect((await start('a square')).id).not.to.equal((await start('a square')).id);
  });

  it('are not begun by [[fail-start]]', async () => {
    expect(await thrownBy(start('a [[fail-start]] square'))).to.include({ kind: 'server', status: 500 });
  });

  for (const [marker, kind, about] of [
    ['fail', 'server', undefined],
    ['moderated', 'request', 'content'],
  ] as const) {
    it(`fail at their time by [[${marker}]]`, async () => {
      const ref = await start(`[[${marker}]]`);
      expect(await lookAt(ref, 500)).to.deep.equal({ status: 'processing', progress: 50 });
      const state = await lookAt(ref, 1000);
      expect(state).to.have.property('status', 'failed');
      expect(state).to.have.nested.property('fault.kind', kind);
      expect((state as { fault: { about?: string } }).fault.about).to.equal(about);
    });
  }

  it('never end by [[stall]]', async () => {
    const ref = await start('[[stall]]');
    expect(await lookAt(ref, 9_000_000)).to.deep.equal({ status: 'processing', progress: 99 });
  });

  it('have a state that nobody knows by [[unknown]], and are completed', async () => {
    const ref = await start('[[unknown]]');
    expect(await lookAt(ref, 500)).to.deep.equal({ status: 'processing' });
    expect(await lookAt(ref, 1000)).to.have.property('status', 'completed');
  });

  it('break off looks by [[lost]], and are completed', async () => {
    const ref = await start('[[lost]]');
    expect(await thrownBy(lookAt(ref, 500))).to.include({ kind: 'network' });
    expect(await lookAt(ref, 1000)).to.have.property('status', 'completed');
  });

  it('begin and look at nothing when they are aborted before', async () => {
    const aborted = AbortSignal.abort(new Error('enough'));
    expect(await thrownBy(open().start(CALL, aborted))).to.have.property('message', 'enough');
    expect(await thrownBy(open().poll({ id: '1' }, aborted))).to.have.property('message', 'enough');
  });

  it('are a film that a browser plays while it loads: H.264 of a few KB, the index before the frames', async () => {
    const { result } = (await lookAt(await start(''), 1000)) as { result: { bytes: Uint8Array } };
    const film = Buffer.from(result.bytes);
    expect(film.equals(readFileSync(new URL('../../providers/sandbox/film.mp4', import.meta.url)))).to.equal(true);
    expect(film.length).to.be.within(1000, 8192);
    const boxes: string[] = [];
    let at = 0;
    for (; at < film.length; at += film.readUInt32BE(at)) boxes.push(film.toString('latin1', at + 4, at + 8));
    expect(at).to.equal(film.length);
    expect(boxes[0]).to.equal('ftyp');
    expect(boxes.indexOf('moov')).to.be.within(1, boxes.indexOf('mdat') - 1);
    // The configuration of the decoder: version 1, then the profile (66 is baseline).
    const config = film.indexOf('avcC');
    expect([film[config + 4], film[config + 5]]).to.deep.equal([1, 66]);
  });

  it('go with the package', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(scripts.prepack).to.include("'providers/sandbox/film.mp4'");
  });
});
