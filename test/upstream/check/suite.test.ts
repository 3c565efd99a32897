import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { collectChecks } from '../../../lib/upstream/check/check.ts';
import { itLong, longer } from '../../../testkit/long.ts';
import { runCommand } from '../../cli/command.ts';
import { HAND_MADE } from './hand-made.ts';

const GUIDE = new URL('../../../docs/providers.md', import.meta.url);

const both = '[{ "name": "x", "source": "x", "reply": {}, "expect": { "finish": "stop", "fault": "rate" } }]';

/** Stands for the example of the guide. */
const EXAMPLE = 'the example';

const ORDINARY = 'recording: an ordinary answer';

const CUT = `${ORDINARY}: reads the same cut at every byte`;

const DEFECTS: readonly Defect[] = [
  {
    what: 'sends no key',
    from: "auth: (key) => ({ authorization: 'Bearer ' + key }),",
    to: '',
    failing: 'asking for text: sends the key',
  },
  {
    what: 'sends no key, though it uses the host',
    of: EXAMPLE,
    from: 'headers, auth, body',
    to: 'headers, body',
    failing: 'asking for text: sends the key',
  },
  { what: 'asks at a wrong path', from: "'/generate'", to: "'/generates'", failing: `${ORDINARY}: reads as expected` },
  {
    what: 'puts the key into the URL',
    from: "settings.baseUrl + '/generate'",
    to: "settings.baseUrl + '/generate?key=' + settings.apiKey",
    failing: 'asking for text: keeps the key out of the URL',
  },
  {
    what: 'drops the usage',
    from: "if (chunk.usage) parts.push({ type: 'usage', ...chunk.usage });",
    to: '',
    failing: `${ORDINARY}: reads as expected`,
  },
  {
    what: 'drops the usage, though it uses the host',
    of: EXAMPLE,
    from: 'out.usage(usage);',
    to: '{}',
    failing: `${ORDINARY}: reads as expected`,
  },
  {
    what: 'swallows the finish',
    from: ", { type: 'finish', reason, raw: state.done }",
    to: '',
    failing: `${ORDINARY}: reads as expected`,
  },
  {
    what: 'takes an error event for text',
    from: 'if (chunk.error !== undefined) throw host.fault.ofComplaint(chunk, true);',
    to: 'if (chunk.error !== undefined) return readText(String(chunk.error.message ?? chunk.error), state);',
    failing: 'stream: takes no error between the events for text',
  },
  {
    what: 'throws what is no fault on rubbish',
    from: "throw host.fault.make('protocol', 'an event is not JSON: ' + data);",
    to: 'return JSON.parse(data);',
    failing: 'stream: takes no rubbish between the lines for text, and does not stumble over it',
  },
  {
    what: 'takes rubbish for text',
    from: "throw host.fault.make('protocol', 'an event is not JSON: ' + data);",
    to: 'return { text: data };',
    failing: 'stream: takes no rubbish between the lines for text, and does not stumble over it',
  },
  {
    what: 'ignores an abort',
    from: '    signal,\n  };',
    to: '    signal: new AbortController().signal,\n  };',
    failing: 'abort: before the headers closes the connection',
  },
  {
    what: 'goes on after an abort within a refusal',
    from: 'const text = await response.body.text()',
    to: 'if (response.status === 500) await new Promise((resolve) => setTimeout(resolve, 3000));\n    const text = await response.body.text()',
    failing: 'abort: within the body of a refusal closes the connection',
  },
  {
    what: 'follows redirects',
    from: 'if (response.status !== 200) {',
    to: `if (response.status === 307) {
    response.body.drop();
    const at = new URL(response.headers.location, settings.baseUrl).href;
    throw host.fault.kindOfStatus((await host.request(at, { method: 'GET', signal })).status);
  }
  if (response.status !== 200) {`,
    failing: 'refusals: a redirect is not followed and no answer',
  },
  {
    what: 'buffers the whole answer',
    from: 'for await (const chunks of response.body.chunks()) {',
    to: 'for await (const chunks of [[await response.body.bytes()]]) {',
    failing: 'stream: goes out as it comes',
  },
  {
    what: 'splits a character',
    from: 'const isHalf = /[\\ud800-\\udbff]$/.test(text);',
    to: 'const isHalf = false;',
    failing: 'stream: keeps the halves of a character together',
  },
  {
    what: 'takes the end of the stream for the end of the answer',
    from: 'const last = readLast(rest, state, host);',
    to: "const last = readLast(rest, state, host); state.done ??= 'complete';",
    failing: 'recording: an answer that just stops: reads as expected',
  },
  {
    what: 'takes the end of the stream for the end of the answer, though it uses the host',
    of: EXAMPLE,
    from: '    take({ text,',
    to: "    end: (out) => out.finish('stop', 'complete'),\n    take({ text,",
    failing: 'recording: an answer that just stops: reads as expected',
  },
  {
    what: 'invents a finish after the text',
    of: EXAMPLE,
    from: "if (typeof text === 'string') out.text(text);",
    to: "if (typeof text === 'string') out.text(text);\n      if (String(text).endsWith('😀')) out.finish('stop', 'complete');",
    failing: `${ORDINARY}: has no end when it is ended early`,
  },
  {
    what: 'fails at text behind a reason to end',
    of: EXAMPLE,
    from: '  return {\n    take({ text, usage, done, error }, out) {',
    to: `  let late = false;
  return {
    take({ text, usage, done, error }, out) {
      if (late && typeof text === 'string') {
        out.text(text);
        throw host.fault.make('server', 'late');
      }
      late ||= done !== undefined;`,
    failing: 'stream: goes on behind a reason to end',
  },
  {
    what: 'loses the text that comes together with an error',
    from: '} finally {',
    to: '} catch (error) {\n      throw error;\n    }\n    {',
    failing: 'recording: overloaded in the middle of an answer: reads as expected',
  },
  {
    what: 'breaks the grammar',
    from: "{ type: 'block-end', index: 0 }, {",
    to: "{ type: 'block-end', index: 7 }, {",
    failing: `${ORDINARY}: reads as expected`,
  },
  {
    what: 'sends another request',
    of: EXAMPLE,
    from: 'max_tokens: maxTokens',
    to: 'max_tokens: 1',
    failing: `${ORDINARY}: reads as expected`,
  },
  {
    what: 'sends the request again when the answer is lost',
    from: 'const response = await ask(call, signal, settings, host);',
    to: `let response = await ask(call, signal, settings, host);
  try {
    await response.body.text();
  } catch {}
  response = await ask(call, signal, settings, host);`,
    failing: 'asking for text: is done once when the answer is lost',
  },
  {
    what: 'keeps a call in a variable of all calls',
    from: "const state = { half: '', done: undefined };",
    to: `const state = { half: '', done: undefined };
  lastHalf = call;
  await new Promise((resolve) => setTimeout(resolve, 5));
  if (lastHalf !== call) return;`,
    failing: `${ORDINARY}: is kept apart from others at the same time`,
  },
  {
    what: 'gives every refusal one kind',
    from: 'throw host.fault.ofReply(response.status, response.headers, text);',
    to: "throw host.fault.make('server', text);",
    failing: 'refusals: status 401 is auth',
  },
  {
    what: 'does not mark its key',
    from: '.meta({ secret: true })',
    to: '',
    failing: 'settings: mark apiKey as a secret',
  },
  {
    what: 'takes any settings',
    from: '      proxy: url,\n    });',
    to: '      proxy: url,\n    }).unknown();',
    failing: 'settings: refuse an unknown key',
  },
  {
    what: 'takes any key',
    from: 'apiKey: joi.string().trim()',
    to: 'apiKey: joi.any()',
    failing: 'settings: refuse a wrong apiKey',
  },
  ...['baseUrl', 'proxy'].map((name) => ({
    what: `takes any text for its ${name}`,
    from: name === 'proxy' ? 'proxy: url,' : "baseUrl: url.default('https://api.acme.example/v1'),",
    to: name === 'proxy' ? 'proxy: joi.string(),' : "baseUrl: joi.string().default('https://api.acme.example/v1'),",
    failing: `settings: refuse a wrong ${name}`,
  })),
  { what: 'decodes chunks apart', from: 'chunk, { stream: true }', to: 'chunk', failing: CUT },
  { what: 'loses a line that a chunk has begun', from: 'rest = lines.pop();', to: "rest = '';", failing: CUT },
];

describe('the contract suite on the example of docs/providers.md', () => {
  let root: string;
  let source: string;
  let recordings: string;

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'suite-'));
    const guide = await readFile(GUIDE, 'utf8');
    source = block(guide, 'ts');
    recordings = block(guide, 'json');
  });
  after(() => rm(root, { recursive: true }));

  function block(guide: string, language: string): string {
    const found = new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 's').exec(guide)?.[1];
    return found ?? expect.fail(`docs/providers.md has no block of ${language}`);
  }

  let count = 0;

  /** The names of the checks that fail on the plugin, of all or one; each folder is new, as modules load once. */
  async function failures(plugin: string, fixtures: string, only?: string): Promise<readonly string[]> {
    const folder = join(root, `${count++}`, 'acme');
    await mkdir(join(folder, 'fixtures'), { recursive: true });
    await writeFile(join(folder, 'index.ts'), plugin);
    await writeFile(join(folder, 'fixtures', 'answers.json'), fixtures);
    const failed: string[] = [];
    for (const check of await collectChecks(folder)) {
      const name = `${check.group}: ${check.name}`;
      if (only === undefined || name === only) await check.run().catch(() => failed.push(name));
    }
    return failed;
  }

  it('passes, and so does a plugin that does by hand what the host would do', async () => {
    expect(await failures(source, recordings)).to.deep.equal([]);
    expect(await failures(HAND_MADE, recordings)).to.deep.equal([]);
  });

  for (const { what, of = HAND_MADE, from, to, failing } of DEFECTS) {
    it(`catches a plugin that ${what}`, async () => {
      const plugin = of === EXAMPLE ? source : of;
      expect(plugin).to.include(from);
      expect(
        await failures(
          plugin.replace(from, () => to),
          recordings,
          failing,
        ),
      ).to.deep.equal([failing]);
    });
  }

  for (const [field, failing] of [
    ['"path": "/v1/generate",', 'asking for text: is recorded: one recording says path and body of a request'],
    [
      '"usage": { "input": 9, "output": 4 },',
      'asking for text: is recorded: one recording says path and body of a request',
    ],
  ] as const) {
    it(`asks for recordings that say ${field}`, async () => {
      expect(recordings).to.include(field);
      expect(await failures(source, recordings.replace(field, ''), failing)).to.deep.equal([failing]);
    });
  }

  it('lets a key be in the URL where a recording says so', async () => {
    const from = "host.request(settings.baseUrl + '/generate', request)";
    const inUrl = HAND_MADE.replace(
      from,
      "host.request(settings.baseUrl + '/generate?key=' + settings.apiKey, request)",
    );
    const declared = recordings.replace('"path": "/v1/generate"', '"path": "/v1/generate?key={{key}}"');
    const check = 'asking for text: keeps the key out of the URL';
    expect(await failures(inUrl, declared, longer(check, undefined))).to.deep.equal([]);
    expect(await failures(inUrl, recordings, check)).to.deep.equal([check]);
  });

  it('gives the call of a recording its sampling parameters', async () => {
    const heated = source
      .replace('messages, maxTokens }', 'messages, maxTokens, sampling }')
      .replace('max_tokens: maxTokens', '$&, heat: sampling?.temperature');
    const all = { temperature: 0.3, topP: 0.9, topK: 40, seed: -7, presencePenalty: -2, frequencyPenalty: 2 };
    const own = recordings
      .replace('"reply"', `"call": { "sampling": ${JSON.stringify(all)} }, "reply"`)
      .replace('"max_tokens": 100', '"max_tokens": 100, "heat": 0.3');
    const check = `${ORDINARY}: reads as expected`;
    expect(await failures(heated, own, check)).to.deep.equal([]);
    expect(await failures(source, own, check)).to.deep.equal([check]);
  });

  it('takes a header that is made from the key for the key', async () => {
    const signed = HAND_MADE.replace("'Bearer ' + key", "'Signed ' + [...key].reverse().join('')");
    const own = recordings.replace('"headers": { "authorization": "Bearer {{key}}" },', '');
    const check = 'asking for text: sends the key';
    expect(await failures(signed, own, longer(check, undefined))).to.deep.equal([]);
    const timed = HAND_MADE.replace(
      "'Bearer ' + key",
      "'Signed ' + host.clock.now() + settings.baseUrl + [...key].reverse().join('')",
    );
    // One that depends on the time is a signature, and this one leaves the body out.
    const unlike = longer<readonly string[]>([], ['asking for text: signs what it sends, at the time of the host']);
    expect(await failures(timed, own, longer(check, undefined))).to.deep.equal(unlike);
    const unsigned = HAND_MADE.replace("'Bearer ' + key", "'Signed ' + host.clock.now() + settings.baseUrl");
    expect(await failures(unsigned, own, longer(check, undefined))).to.deep.equal([check]);
    const random = HAND_MADE.replace("'Bearer ' + key", "'Random ' + Math.random()");
    expect(await failures(random, own, longer(check, undefined))).to.deep.equal([check]);
  });

  async function run(...args: readonly string[]): Promise<{ code: number | null; output: string }> {
    const { code, stdout, stderr } = await runCommand(['provider', 'check', ...args], process.env);
    return { code, output: stdout + stderr };
  }

  itLong('prints its checks from the command line', async () => {
    const { code, output } = await run(fileURLToPath(new URL('../../../providers/sandbox', import.meta.url)));
    expect(output).to.match(/^\nsettings\n {2}✓ make a provider.*\n\d+ checks, all passed\n$/s);
    expect(code).to.equal(0);
  });

  for (const [what, from, to] of [
    ['another finish than expected', "['complete', 'stop']", "['complete', 'other']"],
    ['other usage than expected', 'out.usage(usage)', 'out.usage({})'],
  ] as const) {
    it(`exits with 1 when a check fails, and says why: ${what}`, async () => {
      const folder = join(root, what, 'acme');
      await mkdir(join(folder, 'fixtures'), { recursive: true });
      await writeFile(join(folder, 'index.ts'), source.replace(from, to));
      await writeFile(join(folder, 'fixtures', 'answers.json'), recordings);
      const { code, output } = await run(folder);
      expect(output).to.include(`  ✗ reads as expected\n      ${what}`);
      expect(output).to.match(/\d+ checks, \d+ failed; \d+ cases not checked\n$/);
      expect(code).to.equal(1);
    });
  }

  itLong('exits with 1 when there is no plugin', async () => {
    expect(await run(join(root, 'nowhere'))).to.deep.include({ code: 1 });
    const missing = "tollgate: missing required argument 'folder'. Type: tollgate provider check <folder>";
    expect((await run()).code).to.equal(2);
    expect((await run()).output.startsWith(missing)).to.equal(true);
  });

  it('names a plugin whose settings are no schema', async () => {
    const untyped = HAND_MADE.replace('settings: (joi) => {', '$&\n    return {};');
    const error: unknown = await failures(untyped, recordings).catch((thrown: unknown) => thrown);
    expect(String(error)).to.include('Plugin acme: settings() does not return a joi schema');
  });

  const wrong: readonly (readonly [what: string, fixtures: string, words: string])[] = [
    ['no recording', '[]', 'has no recording'],
    ['a file that is no JSON', '[{', 'answers.json: '],
    ['a recording with a field that does not exist', '[{ "names": "x" }]', '"names" is not allowed'],
    ['a recording that expects both a finish and a fault', both, '[finish, fault]'],
    ['a recording of a kind that does not exist', '[{ "kind": "sound" }]', 'unknown kind sound'],
  ];
  for (const [what, fixtures, words] of wrong) {
    it(`does not start on ${what}`, async () => {
      const error: unknown = await failures(source, fixtures).catch((thrown: unknown) => thrown);
      expect(error).to.be.an('error').with.property('message').that.includes(words).and.includes('fixtures');
    });
  }
});

interface Defect {
  readonly what: string;
  /** The hand-made plugin by default. */
  readonly of?: string;
  readonly from: string;
  readonly to: string;
  /** A check that has to fail. */
  readonly failing: string;
}
