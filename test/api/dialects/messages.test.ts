// Texts inside blocks: kept to a depth, and never taken from what is data.
import { expect } from 'chai';
import { readMessages, readSystem } from '../../../lib/api/dialects/messages.ts';

const image = { type: 'image_url', image_url: 'https://x.example/a.png' };
const USE = { role: 'assistant', content: [{ type: 'tool_use', id: 'x', name: 'f' }] };
const resultWith = (content: readonly object[]) => ({ type: 'tool_result', tool_use_id: 'x', content });
const prompt = { role: 'user', content: 'hi' };

/** The texts of one user message with this content beside a prompt. */
function textsIn(block: object): readonly string[] {
  const content = [block, { type: 'text', text: 'hi' }];
  const { messages } = readMessages([{ role: 'user', content }]);
  return messages[0]?.content.map((part) => (part.type === 'text' ? part.text : part.type)) ?? [];
}

/** A text inside so many blocks. */
function nested(depth: number): object {
  return depth === 0 ? { type: 'text', text: 'deep' } : { type: 'wrap', content: [nested(depth - 1)] };
}

describe('texts of messages', () => {
  it('are kept two blocks deep and cut off below', () => {
    expect(textsIn(nested(1))).to.deep.equal(['deep', 'hi']);
    expect(textsIn(nested(3))).to.deep.equal(['hi']);
    expect(textsIn(nested(2))).to.deep.equal(['deep', 'hi']);
    expect(textsIn(nested(20))).to.deep.equal(['hi']);
  });

  it('are not taken from data', () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'aGk=' };
    expect(textsIn({ type: 'wrap', content: [{ type: 'image', source }] })).to.deep.equal(['hi']);
    expect(textsIn({ type: 'search_result', source: 'https://x.example' })).to.deep.equal(['hi']);
    expect(textsIn({ type: 'tool_use', input: { text: 'no', content: 'no' } })).to.deep.equal(['hi']);
  });

  it('of search results and documents follow what they are about', () => {
    const found = {
      type: 'search_result',
      source: 'https://x.example/a',
      title: 'A',
      content: [{ type: 'text', text: 'b' }],
    };
    expect(textsIn(found)).to.deep.equal(['A\nhttps://x.example/a', 'b', 'hi']);
    expect(textsIn({ ...found, citations: { enabled: true }, content: [] })).to.deep.equal(['hi']);
    const pieces = { type: 'content', content: [{ type: 'text', text: 'p' }] };
    const paper = { type: 'document', title: 'T', context: 'C', source: pieces };
    expect(textsIn(paper)).to.deep.equal(['T\nC', 'p', 'hi']);
    expect(textsIn({ ...paper, citations: { enabled: true } })).to.deep.equal(['C', 'document', 'hi']);
    const { messages } = readMessages([prompt, USE, { role: 'user', content: [resultWith([found])] }, prompt]);
    expect(messages[2]?.content[0]).to.deep.include({
      content: [
        { type: 'text', text: 'A\nhttps://x.example/a' },
        { type: 'text', text: 'b' },
      ],
    });
  });

  it('are taken from documents of text', () => {
    expect(textsIn({ type: 'document', content: [{ text: 'paper' }] })).to.deep.equal(['paper', 'hi']);
    expect(textsIn({ type: 'document', source: { type: 'content', content: 'paper' } })).to.deep.equal(['paper', 'hi']);
  });

  it('never fail on blocks of strange shape', () => {
    for (const block of [
      { type: 'x', text: 5, content: { content: { content: null } } },
      { type: 'x', content: [null, 5, [], ['a'], { content: [[['b']]] }] },
      { type: 'x', source: [], content: undefined },
      { type: 'x', source: { type: 'text', data: { text: ['c'] } } },
    ]) {
      expect(textsIn(block).at(-1)).to.equal('hi');
    }
  });

  it('are a system prompt, or none', () => {
    expect(readSystem('a')).to.deep.equal([{ type: 'text', text: 'a' }]);
    expect(readSystem(undefined)).to.deep.equal([]);
  });
});

describe('images of messages', () => {
  it('are at most four in a message, beside those of its results, and a hundred in all', () => {
    const talk = (inside: number, beside: number) => [
      prompt,
      USE,
      { role: 'user', content: [resultWith(Array(inside).fill(image)), ...Array(beside).fill(image)] },
    ];
    expect(readMessages([...talk(5, 4), prompt]).images).to.equal(9);
    expect(() => readMessages(talk(3, 5))).to.throw('Invalid `messages[2].content`: a message may contain at most 4');
    expect(readMessages(talk(96, 4)).images).to.equal(100);
    expect(() => readMessages(talk(97, 4))).to.throw('Invalid `messages`: must contain at most 100 images in all');
  });

  it('may be more than four right behind results, where a chat puts those of its tools', () => {
    const calls = [{ id: 'x', function: { name: 'f' } }];
    const tool = { role: 'tool', tool_call_id: 'x', content: 'read' };
    const shown = { role: 'user', content: [{ type: 'text', text: 'Of the tool:' }, ...Array(5).fill(image)] };
    const loop = [prompt, { role: 'assistant', tool_calls: calls }, tool, shown];
    expect(readMessages(loop).images).to.equal(5);
    expect(() => readMessages([...loop, shown])).to.throw('`messages[4].content`: a message may contain at most 4');
    expect(() => readMessages([prompt, shown])).to.throw('a message may contain at most 4 images');
  });

  it('come from users, tools and answers, never from the system', () => {
    const calls = [{ id: 'x', function: { name: 'f' } }];
    const tool = { role: 'tool', tool_call_id: 'x', content: [image] };
    expect(readMessages([prompt, { role: 'assistant', tool_calls: calls }, tool]).images).to.equal(1);
    expect(readMessages([prompt, { role: 'function', content: [image] }]).images).to.equal(1);
    for (const role of ['system', 'developer']) {
      expect(() => readMessages([prompt, { role, content: [image] }])).to.throw(
        'only messages of users and assistants',
      );
    }
  });
});

describe('files of messages', () => {
  const paper = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } };
  const note = { type: 'document', source: { type: 'text', data: 'words' } };
  const sound = { type: 'input_audio', input_audio: { data: 'd29yZA==', format: 'wav' } };
  const says = (...content: object[]) => ({ role: 'user', content: [...content, { type: 'text', text: 'hi' }] });

  it('are noted where the first one of a kind is that some models refuse', () => {
    expect(readMessages([prompt])).not.to.have.property('files');
    expect(readMessages([says(note)]).files).to.deep.equal({});
    expect(readMessages([prompt, says(note, paper, sound), says(sound, paper)]).files).to.deep.equal({
      document: 'messages[1].content[1]',
      audio: 'messages[1].content[2]',
    });
  });

  it('come from users, and documents from tools', () => {
    const result = (block: object) => [prompt, USE, { role: 'user', content: [resultWith([block])] }, prompt];
    expect(readMessages(result(paper)).files).to.deep.equal({ document: 'messages[2].content[0].content[0]' });
    expect(() => readMessages(result(sound))).to.throw('content[0].content[0]`: a result must not contain audio');
    for (const role of ['system', 'assistant']) {
      for (const [block, kind] of [
        [paper, 'documents'],
        [sound, 'audio'],
      ] as const)
        expect(() => readMessages([prompt, { role, content: [block] }])).to.throw(
          `only user messages may contain ${kind}`,
        );
    }
  });

  it('are texts without a source, or where only texts are taken', () => {
    const { messages } = readMessages([prompt, { role: 'assistant', content: [note] }, prompt]);
    expect(messages[1]?.content).to.deep.equal([{ type: 'text', text: 'words' }]);
    expect(textsIn({ type: 'document', text: 'bare' })).to.deep.equal(['bare', 'hi']);
    expect(textsIn({ type: 'document', source: { type: 'text', data: ' ' } })).to.deep.equal(['hi']);
    expect(() => textsIn({ type: 'document' })).to.throw('.source`: must be an object');
  });
});

describe('images of answers', () => {
  const drawn = { type: 'image_url', image_url: { url: 'https://x.example/b.png' } };

  it('are counted apart, in either of their places', () => {
    const answers = [prompt, { role: 'assistant', content: 'a', images: [drawn, { type: 'other' }, 5] }, prompt];
    expect(readMessages(answers)).to.include({ images: 0, answerImages: 1 });
    const both = [
      { role: 'user', content: [image, { type: 'text', text: 'hi' }] },
      { role: 'assistant', content: [drawn, drawn] },
      prompt,
    ];
    expect(readMessages(both)).to.include({ images: 1, answerImages: 2 });
  });

  it('count among the hundred of a request', () => {
    const many = (count: number) => [prompt, { role: 'assistant', content: Array(count).fill(drawn) }, prompt];
    expect(readMessages(many(100))).to.include({ answerImages: 100 });
    expect(() => readMessages(many(101))).to.throw('Invalid `messages`: must contain at most 100 images in all');
  });
});

describe('cache markers and citations of messages', () => {
  const cache_control = { type: 'ephemeral' };
  const contentOf = (role: string, block: object) =>
    readMessages([prompt, { role, content: [block] }, prompt]).messages.find(
      (message) => message.role === role && message.content.some((part) => part.type === 'text' && part.text !== 'hi'),
    )?.content;

  it('stand at the last text of their block', () => {
    const wrap = {
      type: 'wrap',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      cache_control,
    };
    expect(contentOf('assistant', wrap)).to.deep.equal([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', cache: { ttl: '5m' } },
    ]);
    expect(contentOf('assistant', { type: 'text', text: 'a', cache_control })).to.deep.equal([
      { type: 'text', text: 'a', cache: { ttl: '5m' } },
    ]);
  });

  it('are kept of answers, those alone that are some', () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'https://a.example/',
      title: 'A',
      cited_text: 'a',
      encrypted_index: 'x',
    };
    const cited = { type: 'text', text: 'a', citations: [citation, 5, null] };
    const [text] = contentOf('assistant', cited) ?? [];
    expect(text).to.have.property('citations').with.length(1);
    expect(text).to.have.nested.property('citations[0].url', 'https://a.example/');
    expect(contentOf('assistant', { ...cited, citations: [5] })).to.deep.equal([{ type: 'text', text: 'a' }]);
  });
});

describe('roles of messages', () => {
  it('are a user, an assistant or the system', () => {
    const { system, messages } = readMessages([
      { role: 'system', content: 'a' },
      { role: 'developer', content: 'b' },
      prompt,
      { role: 'function', content: 'c' },
      { role: 'assistant', content: 'd' },
      { role: 'assistant', content: '' },
      { role: 'assistant' },
    ]);
    expect(system).to.deep.equal([
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]);
    expect(messages.map(({ role }) => role)).to.deep.equal(['user', 'user', 'assistant']);
  });

  it('are refused without content unless the assistant has none', () => {
    for (const role of ['user', 'system', 'function']) {
      expect(() => readMessages([prompt, { role, content: null }])).to.throw(
        'Invalid `messages[1].content`: must be a',
      );
      expect(() => readMessages([prompt, { role }, prompt])).to.throw('Invalid `messages[1].content`: must be a');
    }
  });

  it('end with a user who says something', () => {
    for (const role of ['assistant', 'system', 'function']) {
      expect(() => readMessages([{ role, content: 'a' }])).to.throw('Invalid `messages`: must contain');
      expect(readMessages([prompt, { role, content: '' }]).messages).to.have.length(1);
    }
    for (const content of ['', [], [{ type: 'other' }]]) {
      expect(() => readMessages([prompt, { role: 'user', content }])).to.throw(
        'Invalid `messages[1].content`: the last',
      );
    }
    expect(readMessages([{ role: 'user', content: '' }, prompt]).messages).to.have.length(1);
  });
});

describe('system messages behind others', () => {
  const system = (text: string) => ({ role: 'system', content: text });
  const said = (text: string) => ({ type: 'text', text });
  const wire = [system('a'), { role: 'developer', content: 'b' }, prompt, system('c'), system(''), prompt];

  it('keep their places', () => {
    const asked = { role: 'user', content: [said('hi')] };
    expect(readMessages(wire)).to.deep.include({
      system: [said('a'), said('b')],
      messages: [asked, { role: 'system', content: [said('c')] }, asked],
    });
  });
});

describe('the messages of a request', () => {
  it('must be objects', () => {
    for (const item of [null, 5, 'hi', [], [prompt], undefined]) {
      expect(() => readMessages([prompt, item])).to.throw('`messages[1]`: must be an object');
    }
  });

  it('place a result before the answer that follows, and behind several answers in a row', () => {
    const use = (id: string) => ({ role: 'assistant', content: [{ type: 'tool_use', id, name: 'f' }] });
    const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: id });
    const results = { role: 'user', content: [result('x'), result('y')] };
    expect(readMessages([prompt, use('x'), use('y'), results]).messages).to.have.length(4);
    const late = [
      prompt,
      use('x'),
      prompt,
      { role: 'assistant', content: 'a' },
      { role: 'user', content: [result('x')] },
    ];
    expect(() => readMessages(late)).to.throw('a call without a result');
  });
});

describe('calls of old clients', () => {
  const said = (called: unknown) => ({ role: 'assistant', content: null, function_call: called });
  const answered = (name: string) => ({ role: 'function', name, content: 'found' });
  const look = { name: 'look', arguments: '{"a":1}' };

  it('are answered by the name of their function, and by no other', () => {
    const { messages, hasCalls } = readMessages([prompt, said(look), answered('look'), prompt]);
    expect(messages[1]?.content[0]).to.include({ type: 'tool-call', name: 'look', json: '{"a":1}' });
    expect(messages[2]?.content[0]).to.deep.include({
      type: 'tool-result',
      name: 'look',
      content: [{ type: 'text', text: 'found' }],
    });
    expect(hasCalls).to.equal(true);
    const silent = readMessages([prompt, said(look), { ...answered('look'), content: null }, prompt]).messages[2];
    expect(silent?.content[0]).to.deep.include({ type: 'tool-result', content: [] });
    expect(() => readMessages([prompt, said(look), answered('find'), prompt])).to.throw('a call without a result');
  });

  it('are objects or absent', () => {
    expect(
      readMessages([prompt, { role: 'assistant', content: 'a', function_call: null }, prompt]),
    ).not.to.have.property('hasCalls');
    for (const called of ['look', 5, [look]]) {
      expect(() => readMessages([prompt, said(called), prompt])).to.throw('`messages[1].function_call`');
    }
  });
});

describe('a result of a tool', () => {
  const result = (more: object) => ({ type: 'tool_result', tool_use_id: 'x', ...more });
  const read = (more: object) => readMessages([prompt, USE, { role: 'user', content: [result(more)] }]);
  const cache = { cache_control: { type: 'ephemeral' } };

  it('failed or not, as it says', () => {
    for (const [is_error, isError] of [
      [true, true],
      [false, false],
      [undefined, false],
      [null, false],
    ]) {
      expect(read({ content: 'a', is_error }).messages.at(-1)?.content[0]).to.include({ isError });
    }
    expect(() => read({ content: 'a', is_error: 'yes' })).to.throw('must be a boolean');
  });

  it('may name tools, which is noted, and takes the marker of its last part that has one', () => {
    const reference = { type: 'tool_reference', tool_name: 'find' };
    const named = read({
      content: [
        { ...reference, ...cache },
        { type: 'text', text: 'a' },
      ],
    });
    expect(named.hasReferences).to.equal(true);
    expect(named.messages.at(-1)?.content[0]).to.deep.include({
      content: [
        { type: 'tool-reference', name: 'find' },
        { type: 'text', text: 'a' },
      ],
      cache: { ttl: '5m' },
    });
    expect(read({ content: 'a' })).not.to.have.property('hasReferences');
    expect(() => read({ content: [{ ...reference, tool_name: 5 }] })).to.throw('tool_name');
  });
});
