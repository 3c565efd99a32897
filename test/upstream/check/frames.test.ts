// Recordings in a framing of the plugin's own: each frame with its length before it.
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { useAcmeFolders } from './acme-folder.ts';

/** `change` is made to what a test reads of a chunk. */
const plugin = (change: string) => `
export default {
  contract: 2,
  name: 'acme',
  settings: (_joi, account) => account('https://api.acme.example/v1'),
  create: (settings, host) => ({
    text(call, signal) {
      let rest = Buffer.alloc(0);
      const all = [];
      const framing = (chunk) => {
        if (chunk === undefined) return all;
        rest = Buffer.concat([rest, chunk]);
        const frames = [];
        while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE()) {
          const end = 4 + rest.readUInt32BE();
          frames.push({ data: rest.toString('utf8', 4, end) });
          rest = rest.subarray(end);
        }
        ${change}
        return frames;
      };
      const body = JSON.stringify({ model: call.model, max: call.maxTokens, messages: call.messages });
      return host.answer(settings.baseUrl + '/answers', { method: 'POST', auth: host.bearer, body, framing, signal }, {
        take({ thought, text, end }, out) {
          if (thought) out.reasoning(thought);
          if (text) out.text(text);
          if (end) out.finish(end);
        },
      });
    },
  }),
};
`;

const WRITE = `export default function frame(value) {
  const json = Buffer.from(JSON.stringify(value));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json]);
}
`;

const VALUES = [{ thought: 'Hm. {{origin}}' }, { text: 'Blue ' }, { text: 'небо.' }, { end: 'stop' }];

const answer = (reply: object) => ({
  name: 'an ordinary answer',
  source: 'https://docs.acme.example',
  reply,
  expect: { text: 'Blue небо.', finish: 'stop' },
});
const BYTES = Buffer.concat(
  VALUES.map((value) => {
    const json = Buffer.from(JSON.stringify(value).replace('{{origin}}', ''));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(json.length);
    return Buffer.concat([length, json]);
  }),
);

describe('recorded frames', () => {
  const writeAcme = useAcmeFolders();

  async function collect(change: string, reply: object, write = '') {
    const folder = await writeAcme({
      'index.js': plugin(change),
      'fixtures/answers.json': answer(reply),
      ...(write && { 'fixtures/frame.js': write }),
    });
    return (await collectChecks(folder)).filter(({ group }) => group === 'stream' || group.startsWith('recording'));
  }

  async function failures(change: string): Promise<readonly string[]> {
    const failed: string[] = [];
    const checks = await collect(change, { frames: VALUES }, WRITE);
    expect(checks.filter(({ unchecked }) => unchecked)).to.deep.equal([]);
    for (const { name, run } of checks) await run().catch(() => failed.push(name));
    return failed;
  }

  it('are checked as every stream is', async () => {
    expect(await failures('')).to.deep.equal([]);
  });

  it('catch a framing that waits for the end of the answer', async () => {
    expect(await failures('all.push(...frames); return [];')).to.deep.equal(['goes out as it comes']);
  });

  it('catch a framing that loses what is long', async () => {
    const failed = await failures('if (rest.length > 10_000) rest = Buffer.alloc(0);');
    expect(failed).to.include('keeps a long piece of text whole');
  });

  it('need the script that writes them', async () => {
    const error = await collect('', { frames: VALUES }).catch((reason: Error) => reason);
    expect(String(error)).to.match(/answers\.json: `frames` are written by `fixtures\/frame\.js`, and there is none$/);
    const other = await collect('', { frames: VALUES }, 'export default 1;').catch((reason: Error) => reason);
    expect(String(other)).to.match(/frame\.js: the default export is no function that writes a frame$/);
  });

  it('are what is missing where bytes are recorded that nobody here can read', async () => {
    const checks = await collect('', { bodyBase64: BYTES.toString('base64') });
    const stream = checks.filter(({ group }) => group === 'stream');
    expect(stream.every(({ unchecked }) => unchecked?.includes('`frames`'))).to.equal(true);
    for (const { group, run } of checks) if (group !== 'stream') await run();
  });
});
