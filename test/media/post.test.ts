// Posts to owners' URLs: the same guard as for images, no redirects, a deadline, and failures that look alike.
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { type FailureReason, FetchFailure } from '../../lib/media/failure.ts';
import type { FetcherOptions } from '../../lib/media/fetcher.ts';
import { until } from '../../testkit/client.ts';
import { itTimed } from '../../testkit/timed.ts';
import { type Answer, Network, redirect, reply } from './network.ts';

describe('a post', () => {
  const network = new Network();
  before(() => network.watch());
  afterEach(() => network.forget());
  after(async () => {
    await network.close();
    await network.expectNoStrays();
  });

  const post = (url: string, options: FetcherOptions = {}, signal = new AbortController().signal) =>
    network
      .fetcher({ ...options, limits: { postMs: 20_000, stepMs: 20, ...options.limits } })
      .post(url, { headers: { 'x-mark': 'm' }, body: '{"a":"ж"}', signal });

  /** For hosts that are to be given up as slow. */
  const SOON = { limits: { postMs: 300 } };

  async function reasonOf(url: string, options: FetcherOptions = {}): Promise<FailureReason> {
    const thrown: unknown = await post(url, options).catch((error) => error);
    if (!(thrown instanceof FetchFailure)) throw new Error('not refused', { cause: thrown });
    return thrown.reason;
  }

  it('sends its headers and its body to a public https host', async () => {
    await network.host('receiver.net', reply({ status: 202 }));
    await post('https://receiver.net/in?a=1');
    const [head = ''] = network.heads;
    expect(head).to.match(/^POST \/in\?a=1 HTTP\/1\.1\r\n/);
    expect(head.toLowerCase()).to.contain('x-mark: m').and.contain('content-length: 10');
  });

  it('closes its connection, also during a TLS handshake', async () => {
    const seen: Socket[] = [];
    const keep: Answer = (socket) => void seen.push(socket);
    const answer = reply({ headers: { 'content-length': 10 }, end: false });
    await network.host('keeping.net', (socket, head) => {
      keep(socket, head);
      answer(socket, head);
    });
    await post('https://keeping.net/');
    await network.host('mute.net', keep, { certificate: 'none', port: 443 });
    expect(await reasonOf('https://mute.net/', SOON)).to.equal('slow');
    await until(() => seen.length === 2 && seen.every(({ destroyed }) => destroyed));
  });

  it('fails by the status and follows no redirects', async () => {
    await network.host('elsewhere.net', reply({}));
    const answers = [reply({ status: 500 }), reply({ status: 304 }), redirect('https://elsewhere.net/')];
    for (const [at, answer] of answers.entries()) {
      await network.host(`refusing-${at}.net`, answer);
      expect(await reasonOf(`https://refusing-${at}.net/`)).to.equal('status');
    }
    expect(network.resolved).not.to.include('elsewhere.net');
  });

  it('goes only to public hosts, by address and by name', async () => {
    network.names.set('rebinding.net', ['93.184.216.200', '10.0.0.1']);
    network.names.set('inner.net', ['192.168.1.1']);
    const urls = ['https://rebinding.net/', 'https://inner.net/', 'https://127.0.0.1/', 'https://[fd00::1]/'];
    for (const url of [...urls, 'http://receiver.net/', 'https://receiver.net:444/', 'https://intranet/']) {
      expect(await reasonOf(url), url).to.equal('not-public');
    }
    expect(await reasonOf('https://gate.net/', { ownOrigin: 'https://gate.net' })).to.equal('not-public');
    expect(network.dialled).to.deep.equal([]);
  });

  itTimed('times out if the host does not answer, and ends when its signal aborts', async () => {
    const silent = await network.host('silent.net', () => undefined);
    const from = performance.now();
    expect(await reasonOf('https://silent.net/', SOON)).to.equal('slow');
    expect(performance.now() - from).to.be.within(280, 2000);
    expect(silent).to.be.a('string');
    const controller = new AbortController();
    const reason = new Error('enough');
    setTimeout(() => controller.abort(reason), 30);
    expect(await post('https://silent.net/', {}, controller.signal).catch((error) => error)).to.equal(reason);
  });

  itTimed('fails at whole steps, whatever the cause', async () => {
    network.names.set('inner.net', ['192.168.1.1']);
    for (const url of ['https://10.0.0.1/', 'https://inner.net/', 'https://unknown.net/']) {
      const from = performance.now();
      await reasonOf(url, { limits: { stepMs: 150, postMs: 5000 } });
      // Timers are early by a millisecond or two.
      expect((performance.now() - from + 5) % 150, url).to.be.below(60);
    }
  });

  it('refuses URLs by their text', () => {
    const { findUrlRefusal: refusalOf } = network.fetcher();
    expect(refusalOf('https://receiver.net/')).to.equal(undefined);
    expect(refusalOf('https://10.0.0.1/')).to.equal('not-public');
    expect(refusalOf('http://receiver.net/')).to.equal('scheme');
  });
});
