// What the doctor says of addresses, upstreams and webhooks, each answer by itself.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Route } from '../../../lib/catalog/model.ts';
import { readConfig } from '../../../lib/config.ts';
import type { Finding } from '../../../lib/manage/doctor/check.ts';
import {
  checkMail,
  checkPublicAddress,
  checkReach,
  checkUpstreams,
  checkWebhooks,
  type Dates,
} from '../../../lib/manage/doctor/network.ts';
import type { Store } from '../../../lib/store/store.ts';

describe('the doctor’s look at the network', () => {
  let url: string;
  let answer: RequestListener;
  const server = createServer((request, response) => answer(request, response));
  before(async () => {
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  const say = (findings: readonly Finding[]) =>
    findings.map(
      ({ name, state, detail }) => `${name}: ${state}: ${detail.replaceAll(url, 'URL').replace(/\d+ ms/, 'N ms')}`,
    );

  const FINE = 'public address: ok: URL answers in N ms';
  const proxied = (proxy: string) =>
    `proxy headers: warning: a proxy is in front (${proxy}), and TRUSTED_PROXIES names none`;
  const ANSWERS: readonly (readonly [number, string, Record<string, string>, readonly string[]])[] = [
    [200, '{"status":"ok"}', {}, [FINE]],
    [200, '{"status":"ok"}', { server: 'Apache' }, [FINE]],
    [200, '{"status":"ok"}', { server: 'nginx/1.27' }, [FINE, proxied('nginx/1.27')]],
    [200, '{"status":"ok"}', { server: 'Caddy' }, [FINE, proxied('Caddy')]],
    [200, '{"status":"ok"}', { via: '1.1 here', server: 'nginx' }, [FINE, proxied('1.1 here')]],
    [503, '{"status":"ok"}', {}, ['public address: failed: URL/healthz answers 503']],
    [200, 'a page', {}, ['public address: failed: URL/healthz answers 200']],
  ];
  for (const [status, text, headers, wanted] of ANSWERS)
    it(`asks the public address whether it is well: ${status}, ${text}, ${JSON.stringify(headers)}`, async () => {
      answer = ({ url: path }, response) => {
        if (path === '/healthz') response.writeHead(status, headers).end(text);
        else response.writeHead(404).end();
      };
      expect(say(await checkPublicAddress(readConfig({ PUBLIC_URL: url })))).to.deep.equal(wanted);
    });

  it('says that nobody is there', async () => {
    const [found, ...others] = await checkPublicAddress(readConfig({ PUBLIC_URL: 'http://127.0.0.1:9' }));
    expect(found).to.include({ name: 'public address', state: 'failed' });
    expect(found?.detail).to.match(/^http:\/\/127\.0\.0\.1:9: .*ECONNREFUSED/);
    expect(others).to.deep.equal([]);
    expect(say(await checkMail(readConfig({})))).to.deep.equal(['mail: warning: SMTP_URL is not set']);
  });

  it('asks each upstream once, and takes the time that it tells', async () => {
    let asked = 0;
    answer = (_, response) => {
      asked += 1;
      response.writeHead(404, { date: new Date(1_800_000_000_000).toUTCString() }).end();
    };
    const route = (upstream: string, origin: string | undefined) =>
      ({ upstream, origin, provider: { text: undefined } }) as unknown as Route;
    const routes = [
      route('main', url),
      route('main', url),
      route('here', undefined),
      route('gone', 'http://127.0.0.1:9'),
    ];
    const dates: Dates = [];
    // Images are never drawn for a check.
    const findings = await checkUpstreams({ routes, calls: true, dates });
    expect(say(findings).map((line) => line.replace(/: connect .*/, ''))).to.deep.equal([
      'upstream main: ok: URL answers in N ms; its key was not tried (--calls does)',
      'upstream here: ok: has no address',
      'upstream gone: failed: http://127.0.0.1:9',
    ]);
    expect(asked).to.equal(1);
    expect(dates.map(([there]) => there)).to.deep.equal([1_800_000_000_000]);
    expect(Math.abs(Date.now() - (dates[0]?.[1] ?? 0))).to.be.below(60_000);
    answer = (_, response) => {
      response.sendDate = false;
      response.end();
    };
    expect(await checkReach('x', route('x', url), dates)).to.include({ state: 'ok' });
    expect(dates).to.have.length(1);
  });

  it('tries fifty webhooks at most, from page to page, and only those that may be called', async () => {
    const hook = (account: string, address: string | undefined) => ({
      account,
      webhook: address === undefined ? null : { url: address, secret: 's' },
    });
    const look = async (pages: readonly (readonly ReturnType<typeof hook>[])[]) => {
      const asked: object[] = [];
      const page = async (from: object) => {
        asked.push(from);
        return pages[asked.length - 1] ?? [];
      };
      const config = readConfig({ WEBHOOK_TRUSTED_ORIGINS: `${url},http://127.0.0.1:9` });
      return { findings: await checkWebhooks({ alerts: { page } } as unknown as Store, config), asked };
    };
    const first = [
      ...Array.from({ length: 198 }, () => hook('acc_0', undefined)),
      hook('acc_1', `${url}/hook`),
      hook('acc_3', 'http://127.0.0.1:9/hook'),
    ];
    const found = await look([first, [hook('acc_4', 'http://10.0.0.1/hook')]]);
    expect(say(found.findings).map((line) => line.replace(/: connect .*/, ''))).to.deep.equal([
      'webhook of acc_1: ok: URL accepts connections',
      'webhook of acc_3: warning: http://127.0.0.1:9',
      'webhook of acc_4: failed: its address is not allowed',
    ]);
    expect(found.asked).to.deep.equal(['', 'acc_3'].map((after) => ({ after, limit: 200 })));
    const many = Array.from({ length: 200 }, (_, at) => {
      return hook(`acc_${at}`, at < 30 ? 'http://10.0.0.1/hook' : undefined);
    });
    const most = await look([many, many, many]);
    expect([most.findings.length, most.asked.length]).to.deep.equal([50, 2]);
  });
});
