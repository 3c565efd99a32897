// What a stream of arguments costs, a byte at a time, against the same bytes as text.
import { expect } from 'chai';
import { CHAT, MESSAGES, open, readHead } from '../../testkit/client.ts';
import { startGateway, type TestAccount, type TestGateway } from '../../testkit/gateway.ts';
import { SSE, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';
import { CLIENTS, SPEAKERS } from './tool-wire.ts';
import { speakResponses } from './tool-wire-responses.ts';

const BYTES = 128 * 1024;
const LOOKS = 3;
const TIMES_MAX = 2;

const PIECES = [...`{"text":"${'x'.repeat(BYTES - 11)}"}`];
const TOOLS = [{ name: 'write', description: 'writes', schema: { type: 'object' } }];
const ASKED = { prompt: 'x', turns: [], tools: TOOLS, choice: 'auto', single: false };

const KINDS = {
  chat: { plugin: 'openai-compatible', path: '/v1' },
  message: { plugin: 'anthropic', path: '' },
  responses: { plugin: 'openai-responses', path: '/v1' },
} as const;

const WRITERS = { ...SPEAKERS, responses: speakResponses };

for (const kind of ['chat', 'message', 'responses'] as const) {
  describe(`the cost of arguments over ${KINDS[kind].plugin}`, function () {
    this.timeout(120_000);
    let upstream: TestUpstream;
    let gateway: TestGateway;
    let account: TestAccount;

    before(async () => {
      upstream = await startUpstream();
      const settings = { baseUrl: `${upstream.url}${KINDS[kind].path}`, apiKey: 'up-secret-key-1' };
      const model = {
        id: 'm',
        type: 'text',
        provider: 'Test',
        tools: true,
        routes: [{ upstream: 'up', model: 'up-model' }],
        price: { input: '1', output: '1' },
      };
      gateway = await startGateway({
        catalog: { upstreams: { up: { plugin: KINDS[kind].plugin, settings } }, models: [model] },
      });
      account = await gateway.account();
    });
    after(async () => {
      await gateway.checkMoney();
      await gateway.stop();
      await upstream.close();
    });

    const AS_TEXT = Buffer.from(WRITERS[kind]({ text: PIECES, calls: [] }));
    const AS_CALL = Buffer.from(WRITERS[kind]({ text: [], calls: [{ id: 'call_1', name: 'write', pieces: PIECES }] }));

    /** CPU of one call in ms, the client and the upstream included. */
    async function measureCpu(path: string, answer: Buffer): Promise<number> {
      upstream.behave(({ response }) => {
        response.writeHead(200, SSE);
        response.end(answer);
      });
      const fields = CLIENTS[path === CHAT ? 'chat' : 'message'](ASKED);
      const before = process.cpuUsage();
      const body = { model: 'm', max_tokens: 32_768, stream: true, ...fields };
      const response = await readHead(open(`${gateway.url}${path}`, { key: account.key, body }));
      let bytes = 0;
      for await (const chunk of response) bytes += chunk.length;
      const { user, system } = process.cpuUsage(before);
      expect(bytes).to.be.above(BYTES);
      return (user + system) / 1000;
    }

    for (const path of [CHAT, MESSAGES]) {
      it(`is at most ${TIMES_MAX} times that of text at ${path}`, async () => {
        const best = { text: Number.POSITIVE_INFINITY, call: Number.POSITIVE_INFINITY };
        for (let look = 0; look < LOOKS; look += 1) {
          best.text = Math.min(best.text, await measureCpu(path, AS_TEXT));
          best.call = Math.min(best.call, await measureCpu(path, AS_CALL));
        }
        expect(best.call / best.text, JSON.stringify(best)).to.be.at.most(TIMES_MAX);
      });
    }
  });
}
