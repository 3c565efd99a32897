// Cache markers, earlier reasoning, documents and audio of requests: what a vendor of each wire format gets of them.
import { expect } from 'chai';
import { CHAT, MESSAGES, RESPONSES, send } from '../../testkit/client.ts';
import {
  COST,
  FORMATS,
  gives,
  type Json,
  look,
  makes,
  type RequestStage,
  result,
  startRequestStage,
  text,
  user,
} from './request-stage.ts';

describe('contents of requests', () => {
  let stage: RequestStage;

  before(async () => {
    stage = await startRequestStage();
  });
  after(() => stage.stop());

  describe('with cache markers', () => {
    const marker = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } });
    const CACHED = {
      system: [{ ...text('Be brief.'), ...marker('1h') }],
      tools: [{ ...look, ...marker('1h') }],
      messages: [
        user([{ ...text('a'), ...marker() }]),
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: {}, ...marker() }] },
        user([
          { ...result('t'), ...marker() },
          { ...text('b'), ...marker('1h') },
        ]),
      ],
    };

    it('keep at most four where they were, the longer ones first', async () => {
      const { system, tools, messages } = await stage.ask(MESSAGES, { model: 'message', ...CACHED });
      const short = { type: 'ephemeral' };
      expect(tools[0]).to.not.have.property('cache_control');
      expect(system).to.deep.equal([{ ...text('Be brief.'), cache_control: { ...short, ttl: '1h' } }]);
      expect(messages[0].content).to.deep.equal([text('a')]);
      expect(messages[1].content[0].cache_control).to.deep.equal(short);
      expect(messages[2].content.map((block: Json) => block.cache_control)).to.deep.equal([short, short]);
    });

    it('mean the end of the prompt at the top level, and parts and tools in chat', async () => {
      const top = await stage.ask(MESSAGES, { model: 'message', messages: [user('a')], ...marker('1h') });
      expect(top.messages).to.deep.equal([user([{ ...text('a'), cache_control: { type: 'ephemeral', ttl: '1h' } }])]);
      const tool = { type: 'function', function: { name: 'look', parameters: {} }, ...marker() };
      const parts = [{ ...text('a'), ...marker() }];
      const chat = await stage.ask(CHAT, {
        model: 'message',
        messages: [{ role: 'system', content: parts }, user('b')],
        tools: [tool],
      });
      expect(chat.system[0].cache_control).to.deep.equal({ type: 'ephemeral' });
      expect(chat.tools[0].cache_control).to.deep.equal({ type: 'ephemeral' });
    });

    for (const format of ['chat', 'contents', 'responses'] as const) {
      it(`leave them out elsewhere: ${format}`, async () => {
        const body = await stage.ask(MESSAGES, { model: format, ...CACHED });
        expect(JSON.stringify(body)).to.not.match(/cache/);
      });
    }

    it('refuse a ttl that no vendor has', async () => {
      const messages = [user([{ ...text('a'), ...marker('2h') }])];
      expect(await stage.refused(MESSAGES, { model: 'message', messages })).to.match(
        /^Invalid `messages\[0\]\.content\[0\]\.cache_control\.ttl`/,
      );
    });

    it('send keys of conversations where the catalog says so', async () => {
      const keys = { prompt_cache_key: 'talk-1', prompt_cache_retention: '24h' };
      const asked = { messages: [user()], ...keys };
      expect(await stage.ask(CHAT, { model: 'chat-caching', ...asked })).to.include(keys);
      expect(await stage.ask(CHAT, { model: 'responses', ...asked })).to.include(keys);
      expect(await stage.ask(CHAT, { model: 'chat', ...asked })).to.not.have.any.keys(Object.keys(keys));
    });
  });

  it('say how long the answer is to be where the format has that', async () => {
    for (const [path, asked] of [
      [RESPONSES, { input: 'hi', text: { verbosity: 'low' } }],
      [CHAT, { messages: [user()], verbosity: 'low' }],
    ] as const) {
      expect(await stage.ask(path, { model: 'responses', ...asked })).to.deep.include({ text: { verbosity: 'low' } });
      expect(await stage.ask(path, { model: 'chat-caching', ...asked })).to.include({ verbosity: 'low' });
      for (const model of FORMATS.filter((format) => format !== 'responses')) {
        await stage.ask(path, { model, ...asked });
        expect(`${stage.upstream.calls.at(-1)?.bytes}`, model).to.not.include('verbosity');
      }
    }
    const message = await stage.refused(CHAT, { model: 'responses', messages: [user()], verbosity: 'loud' });
    expect(message).to.equal('Invalid `verbosity`: must be one of low, medium, high.');
  });

  it('say how closely an image is to be looked at, in short bodies and in long ones', async () => {
    const url =
      'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const parts = [
      { type: 'image_url', image_url: { url, detail: 'low' } },
      { type: 'input_image', image_url: url, detail: 'high' },
      { type: 'image_url', image_url: { url, detail: 'auto' } },
    ];
    for (const said of ['x', 'x'.repeat(200_000)]) {
      const asked = { model: 'eyes', messages: [user([...parts, text(said)])] };
      const { messages } = await stage.ask(CHAT, asked, { cost: COST + 30 });
      const images = messages[0].content.flatMap(({ image_url: image }: Json) => image ?? []);
      expect(images.map(({ detail }: Json) => detail)).to.deep.equal(['low', 'high', undefined]);
    }
  });

  it('have the same beginning in the next turn, so that the vendor still knows it', async () => {
    const tools = [{ name: `mcp.${'x'.repeat(100)}`, input_schema: {} }, look];
    const use = (id: string) => ({ type: 'tool_use', id, name: look.name, input: { b: 1, a: 2 } });
    const first = [user('a'), { role: 'assistant', content: [text('I see.'), use('a:1')] }, user([result('a:1')])];
    const second = [...first, { role: 'assistant', content: [use('a:1')] }, user([result('a:1')])];
    for (const model of FORMATS) {
      const bytes: string[] = [];
      for (const messages of [first, second]) {
        await stage.ask(MESSAGES, { model, system: 'Be brief.', tools, messages });
        bytes.push(`${stage.upstream.calls.at(-1)?.bytes}`);
      }
      const [before = '', after = ''] = bytes;
      const end = before.lastIndexOf('"r"');
      expect(end, model).to.be.above(0);
      expect(after.slice(0, end)).to.equal(before.slice(0, end));
    }
  });

  describe('with earlier reasoning', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
    const redacted = { type: 'redacted_thinking', data: 'eHh4' };
    const empty = { type: 'thinking', thinking: '', signature: 'c2lnMg==' };
    const use = { type: 'tool_use', id: 'a', name: 'look', input: {} };
    const messages = [
      user(),
      { role: 'assistant', content: [thinking, redacted, empty, text('I see.'), use] },
      user([result('a')]),
    ];

    it('give it back to its own format, unchanged and in order', async () => {
      const body = await stage.ask(MESSAGES, { model: 'message', messages });
      expect(body.messages[1].content).to.deep.equal([thinking, redacted, empty, text('I see.'), use]);
    });

    for (const format of ['chat', 'contents', 'responses', 'chat-thoughts'] as const) {
      it(`drop it whole on another: ${format}`, async () => {
        const written = JSON.stringify(await stage.ask(MESSAGES, { model: format, messages }));
        expect(written).to.not.match(/"hm"|c2ln|eHh4/);
        expect(written).to.contain('I see.');
      });
    }

    it("give the client's own text back where it has to come back, and else a blank", async () => {
      const thought = { ...makes('a'), reasoning_content: 'I should look.' };
      const again = [user(), thought, gives('a'), makes('b'), gives('b')];
      const body = await stage.ask(CHAT, { model: 'chat-thoughts', messages: again });
      const said = body.messages.filter(({ role }: Json) => role === 'assistant');
      expect(said.map((each: Json) => each.reasoning_content)).to.deep.equal(['I should look.', ' ']);
      const plain = await stage.ask(CHAT, { model: 'chat', messages: again });
      expect(JSON.stringify(plain)).to.not.contain('reasoning');
    });

    it('read details that name their format', async () => {
      const details = [
        { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'messages' },
        { type: 'reasoning.encrypted', data: 'eHh4', format: 'messages' },
      ];
      const thought = { ...makes('a'), reasoning_content: 'hm', reasoning_details: details };
      const { messages: sent } = await stage.ask(CHAT, { model: 'message', messages: [user(), thought, gives('a')] });
      expect(sent[1].content.slice(0, 2)).to.deep.equal([thinking, redacted]);
    });
  });

  describe('with documents and audio', () => {
    const PDF = Buffer.from('%PDF-1.4 /Type /Page /Type /Pages /Count 1').toString('base64');
    const document = {
      type: 'document',
      title: 't',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF },
    };
    const file = { type: 'file', file: { filename: 't', file_data: `data:application/pdf;base64,${PDF}` } };
    const audio = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } };

    it('name recordings as each format does', async () => {
      for (const [format, chat, type] of [
        ['wav', 'wav', 'audio/wav'],
        ['mp3', 'mp3', 'audio/mpeg'],
        ['m4a', 'm4a', 'audio/mp4'],
      ]) {
        const messages = [user([{ ...audio, input_audio: { data: 'AAAA', format } }, text('x')])];
        const asChat = await stage.ask(CHAT, { model: 'chat-files', messages });
        expect(JSON.stringify(asChat)).to.contain(`"format":"${chat}"`);
        const asContents = await stage.ask(CHAT, { model: 'contents-files', messages });
        expect(JSON.stringify(asContents)).to.contain(`"mimeType":"${type}"`);
      }
    });

    for (const format of FORMATS) {
      it(`pass to models that take them: ${format}`, async () => {
        const model = `${format}-files`;
        const [first, second] = [
          await stage.ask(MESSAGES, { model, messages: [user([document, text('x')])] }),
          await stage.ask(CHAT, { model, messages: [user([file, text('x')])] }),
        ];
        expect(first).to.deep.equal(second);
        expect(JSON.stringify(first)).to.contain(PDF);
        const hears = format === 'chat' || format === 'contents';
        const heard = { model, messages: [user([audio, text('x')])] };
        if (hears) expect(JSON.stringify(await stage.ask(CHAT, heard))).to.contain('AAAA');
        else expect(await stage.refused(CHAT, heard)).to.match(/^Invalid `messages\[0\]\.content\[0\]`: is audio/);
      });

      it(`are refused by other models, and named: ${format}`, async () => {
        for (const part of [document, file]) {
          const message = await stage.refused(CHAT, { model: format, messages: [user([text('x'), part])] });
          expect(message).to.equal(
            `Invalid \`messages[0].content[1]\`: is a document, which \`${format}\` does not take.`,
          );
        }
        expect(await stage.refused(CHAT, { model: format, messages: [user([audio])] })).to.match(
          /content\[0\]`: is audio/,
        );
      });

      it(`stay text where they are text: ${format}`, async () => {
        const paper = { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'the paper' } };
        const titled = { ...paper, title: 'the title', context: 'the context' };
        for (const model of [format, `${format}-files`]) {
          const told = JSON.stringify(await stage.ask(MESSAGES, { model, messages: [user([titled, text('x')])] }));
          for (const words of ['the title', 'the context', 'the paper']) expect(told, model).to.contain(words);
        }
        const found = {
          type: 'search_result',
          source: 'https://x.example',
          title: 'the title',
          content: [text('the hit')],
        };
        for (const citations of [{ enabled: false }, { enabled: true }]) {
          const messages = [user([{ ...found, citations }, text('x')])];
          const told = JSON.stringify(await stage.ask(MESSAGES, { model: `${format}-files`, messages }));
          for (const words of ['the title', 'https://x.example', 'the hit']) expect(told).to.contain(words);
        }
        const body = await stage.ask(MESSAGES, { model: format, messages: [user([paper, text('x')])] });
        expect(JSON.stringify(body)).to.contain('"the paper"').and.not.contain('document');
      });
    }

    it('pass in long bodies, in results, and are held by their pages', async () => {
      const long = text('long '.repeat(60_000));
      const use = { type: 'tool_use', id: 'a', name: 'look', input: {} };
      const messages = [user([long]), { role: 'assistant', content: [use] }, user([result('a', [document])])];
      const body = await stage.ask(MESSAGES, { model: 'message-files', messages });
      expect(JSON.stringify(body)).to.contain(PDF);
      const poor = await stage.gateway.account('1');
      const reply = await send(stage.gateway.url + MESSAGES, {
        key: poor.key,
        body: { model: 'message-files', max_tokens: 1, messages: [user([document])] },
      });
      // 2,000 tokens a page at 10,000 roubles a million.
      expect([reply.status, reply.json.error.message]).to.match(/^402/);
    });

    for (const [part, words] of [
      [{ type: 'file', file: { file_id: 'file-1' } }, /file_data`: must be a document/],
      [{ type: 'input_file', file_url: 'https://x.example/a.pdf' }, /file_data`: must be a document/],
      [{ type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' } }, /source`: must be a document/],
      [{ type: 'video_url', video_url: { url: 'https://x.example/a.mp4' } }, /type`: must not be video_url/],
      [{ type: 'file', file: { file_data: 'no base64!' } }, /file_data`: must be base64/],
    ] as const) {
      it(`refuse ${JSON.stringify(part)}`, async () => {
        expect(await stage.refused(CHAT, { model: 'chat-files', messages: [user([text('x'), part])] })).to.match(words);
      });
    }
  });
});
