import { expect } from 'chai';
import { start } from '../../scripts/bench/process.ts';
import { said } from '../../testkit/talk.ts';

describe('upstream of the benchmark', () => {
  it('survives a probe of the proxy in front of it', async () => {
    const upstream = start('upstream.ts', []);
    const { port } = await said<{ port: number }>(upstream);
    const url = `http://127.0.0.1:${port}`;
    expect((await fetch(url)).status).to.equal(404);
    const body = JSON.stringify({ model: 'call', messages: [] });
    const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
    expect(reply.status).to.equal(200);
    expect(await reply.json()).to.have.property('choices');
    upstream.disconnect();
  });
});
