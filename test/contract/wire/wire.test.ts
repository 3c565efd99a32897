// What every generating endpoint writes, byte by byte, for fixed answers of an upstream: a refactoring that changes any of
// it fails here. After an intended change run `RECORD=1 npx mocha test/contract/wire` and read the diff.
import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { send, until } from '../../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../../testkit/gateway.ts';
import { startUpstream, type TestUpstream } from '../../../testkit/upstream.ts';
import { type Case, GROUPS, wireCatalog } from './cases.ts';

const RECORD = process.env.RECORD === '1';

/** What differs from run to run, and what stands for it in the recordings. */
const VARYING: readonly (readonly [RegExp, string])[] = [
  [/req_[0-9A-Za-z]{16,}/g, 'req_ID'],
  [/acc_[0-9A-Za-z]{16,}/g, 'acc_ID'],
  [/vid_[0-9A-Za-z]{16,}/g, 'vid_ID'],
  [/call_[0-9A-Za-z]{16,}/g, 'call_ID'],
  [/toolu_[0-9A-Za-z]{16,}/g, 'toolu_ID'],
  [/\/media\/[0-9A-Za-z]+/g, '/media/ID'],
  [/"last_used_at":"[^"]+"/g, '"last_used_at":"TIME"'],
  [/"created":\d{10}\b/g, '"created":TIME'],
  [/"(created|completed)_at":\d{10}\b/g, '"$1_at":TIME'],
  [/^date: .*$/gm, 'date: DATE'],
];

describe('recorded wire output', () => {
  let upstream: TestUpstream;
  let gateway: TestGateway;

  before(async () => {
    upstream = await startUpstream();
    const env = { SANDBOX: 'on', VIDEO_POLL_MS: '1000', PUBLIC_URL: 'https://gate.example' };
    gateway = await startGateway({ catalog: wireCatalog(upstream.url), env });
  });
  after(async () => {
    await upstream.close();
    await gateway.checkMoney();
    await gateway.stop();
  });

  for (const [name, cases] of GROUPS) {
    it(`of ${name} is unchanged`, async () => {
      const exchanges: string[] = [];
      for (const each of cases) exchanges.push(await exchange(each));
      const file = new URL(`${name}.txt`, import.meta.url);
      const written = `${exchanges.join('\n')}`;
      if (RECORD) writeFileSync(file, written);
      expect(written).to.equal(readFileSync(file, 'utf8'));
    });
  }

  /** A request and its reply as text. Each case has a new account, so its balance does not depend on the others. */
  async function exchange(each: Case): Promise<string> {
    const account = await gateway.account(each.rub);
    if (each.answer !== undefined) upstream.behave(each.answer);
    const path = each.path.replace('{video}', () => video);
    const headers = { ...each.headers, ...(each.key !== false && { 'x-api-key': each.key ?? account.key }) };
    if (each.path.includes('{video}')) headers['x-api-key'] = videoOwner.key;
    const reply = await send(`${gateway.url}${path}`, {
      headers,
      body: each.body,
      ...(each.method && { method: each.method }),
    });
    if (each.waits) await waitForVideo(reply.json.id, account);
    const sent =
      each.body === undefined ? '' : `\n${typeof each.body === 'string' ? each.body : JSON.stringify(each.body)}`;
    const head = Object.entries(reply.headers).map(([name, value]) => `${name}: ${value}`);
    const lines = [`===== ${each.name}`, `${each.method ?? (sent ? 'POST' : 'GET')} ${path}${sent}`, '-----'];
    return mask([...lines, String(reply.status), ...head, '', reply.text, ''].join('\n'));
  }

  /** The video that later cases poll. */
  let video = '';
  let videoOwner: TestAccount;

  async function waitForVideo(id: string, account: TestAccount): Promise<void> {
    video = id;
    videoOwner = account;
    await until(async () => ['completed', 'failed'].includes((await gateway.store.jobs.get(id))?.phase ?? ''));
  }
});

function mask(text: string): string {
  return VARYING.reduce((masked, [pattern, word]) => masked.replace(pattern, word), text);
}
