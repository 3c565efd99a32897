// A folder of somebody else's, which can import nothing of ours, speaks each format by what the host hands it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ProviderPart, TextCall } from '../../../lib/upstream/contract/provider.ts';
import { loadPlugin } from '../../../lib/upstream/host/loader.ts';
import { createProvider } from '../../../lib/upstream/host/settings.ts';
import { interceptRequests, nock } from '../../../testkit/interception.ts';

const ORIGIN = 'https://acme.example';

const plugin = (format: string) => `export default {
  contract: 1,
  name: 'acme',
  settings: (_joi, account) => account('${ORIGIN}/v1'),
  create: (settings, host) => ({
    tools: true,
    text: (call, signal) => {
      const body = (base64) => ({ ...host.${format}.body(call, base64), own: true });
      return host.answer(settings.baseUrl, { method: 'POST', auth: host.bearer, body, signal }, host.${format}.reader());
    },
  }),
};`;

const HI = { type: 'text', text: 'Hi' } as const;
const CALL: TextCall = { model: 'm', messages: [{ role: 'user', content: [HI] }], maxTokens: 9, options: {} };

const FORMATS = {
  chat: {
    sent: { model: 'm', messages: [{ role: 'user', content: 'Hi' }], stream: true },
    reply: { choices: [{ index: 0, message: { content: 'Hello.' }, finish_reason: 'stop' }] },
  },
  message: {
    sent: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stream: true },
    reply: { type: 'message', content: [HI, { type: 'text', text: ' there.' }], stop_reason: 'end_turn' },
  },
  contents: {
    sent: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    reply: { candidates: [{ content: { parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }] },
  },
};

describe('a plugin from elsewhere', () => {
  let folder: string;

  interceptRequests();
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'outside-'));
  });
  after(() => rmSync(folder, { recursive: true }));
  afterEach(() => nock.cleanAll());

  for (const [format, { sent, reply }] of Object.entries(FORMATS)) {
    it(`speaks the ${format} format`, async () => {
      const own = join(folder, format, 'acme');
      mkdirSync(own, { recursive: true });
      writeFileSync(join(own, 'index.js'), plugin(format));
      const { provider, close } = createProvider({
        plugin: await loadPlugin(own),
        upstream: 'acme',
        settings: { apiKey: 'key' },
        log: { warn() {} },
      });
      let asked: unknown;
      const upstream = nock(ORIGIN, { reqheaders: { authorization: 'Bearer key' } });
      upstream
        .post('/v1', (body) => {
          asked = body;
          return true;
        })
        .reply(200, reply);
      const parts: ProviderPart[] = [];
      for await (const some of provider.text?.(CALL, new AbortController().signal) ?? []) parts.push(...some);
      await close();
      expect(asked).to.deep.equal({ ...sent, own: true });
      const text = parts.map((part) => (part.type === 'block-delta' ? part.text : '')).join('');
      expect(text).to.equal(format === 'message' ? 'Hi there.' : 'Hello.');
      expect(parts.at(-1)).to.include({ type: 'finish', reason: 'stop' });
    });
  }
});
