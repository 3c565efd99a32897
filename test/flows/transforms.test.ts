// The steps that an embedder adds to the way of every answer; the first is the example of docs/architecture.md.
import { expect } from 'chai';
import { OperatorError } from '../../lib/base/operator-error.ts';
import { readConfig } from '../../lib/config.ts';
import { createGateway, type StreamPart, type Transform } from '../../lib/gateway.ts';
import { createLog } from '../../lib/http/log.ts';
import { ask, CHAT, DIALECTS, joinText, parseEvents, readResponseText, send } from '../../testkit/client.ts';
import { chatCatalog, startGateway, type TestGateway } from '../../testkit/gateway.ts';
import { chatAnswer, startUpstream, type TestUpstream } from '../../testkit/upstream.ts';

describe('transforms of an embedder', () => {
  const counts: number[] = [];
  let failing: 'made' | 'called' | undefined;
  let upstream: TestUpstream;
  let gateway: TestGateway;

  /** Counts the words of an answer. */
  function createWordCounter(): Transform<StreamPart> {
    let text = '';
    return {
      push(batch) {
        for (const part of batch) if (part.type === 'block-delta') text += part.text;
        return batch;
      },
      end() {
        counts.push(text.split(/\s+/).filter((word) => word !== '').length);
        return [];
      },
    };
  }

  function createShouter(): Transform<StreamPart> {
    if (failing === 'made') throw new Error('the secret words of an embedder');
    return {
      push(batch) {
        if (failing === 'called') throw new Error('the secret words of an embedder');
        return batch.map((part) => (part.type === 'block-delta' ? { ...part, text: part.text.toUpperCase() } : part));
      },
    };
  }

  before(async () => {
    upstream = await startUpstream(chatAnswer('Hello there, you.', { input: 7, output: 400 }));
    gateway = await startGateway({
      catalog: chatCatalog(upstream.url),
      transforms: [createWordCounter, createShouter],
    });
  });
  afterEach(() => gateway.checkMoney());
  after(async () => {
    await gateway.stop();
    await upstream.close();
  });

  for (const path of DIALECTS) {
    it(`see every part and may change it: ${path}`, async () => {
      counts.length = 0;
      const { key } = await gateway.account();
      const streamed = await send(gateway.url + path, { key, body: ask('hi', { stream: true }) });
      expect(joinText(parseEvents(streamed.text))).to.equal('HELLO THERE, YOU.');
      const { json } = await send(gateway.url + path, { key, body: ask('hi') });
      expect(json.content?.[0].text ?? json.choices?.[0].message.content ?? readResponseText(json)).to.equal(
        'HELLO THERE, YOU.',
      );
      expect(counts).to.deep.equal([3, 3]);
    });
  }

  it('do not change what is billed', async () => {
    const { key } = await gateway.account();
    const { json } = await send(gateway.url + CHAT, { key, body: ask('hi') });
    expect(json.usage).to.include({ prompt_tokens: 7, completion_tokens: 400 });
  });

  it('are refused before the start where they are no functions, and so are misspelt options', async () => {
    const config = readConfig({ DATABASE_URL: 'sqlite:/nowhere/tollgate.db' });
    const log = createLog({ level: 'silent', keyPrefix: config.keyPrefix });
    for (const [options, says] of [
      [{ transforms: [{ push: () => [] }] }, '`transforms` must be a list of functions'],
      [{ transforms: () => ({ push: () => [] }) }, '`transforms` must be a list of functions'],
      [{ transform: [createShouter] }, 'there is no "transform"'],
    ] as const) {
      const error: unknown = await createGateway(config, log, options as object).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(OperatorError);
      expect(String(error)).to.include(says);
    }
  });

  for (const when of ['made', 'called'] as const) {
    it(`fail the call when they throw as they are ${when}, which is refunded, and nobody reads why`, async () => {
      failing = when;
      const account = await gateway.account();
      const reply = await send(gateway.url + CHAT, { key: account.key, body: ask('hi') });
      failing = undefined;
      expect(reply.status).to.equal(500);
      expect(reply.text).to.include('Charge refunded').and.not.include('secret words');
      expect((await gateway.wallet(account)).charged).to.equal(0n);
    });
  }
});
