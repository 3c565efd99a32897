// Which cache markers reach a vendor.
import { expect } from 'chai';
import type { CacheMarker, TextCall, TextContent } from '../../../lib/upstream/contract/provider.ts';
import { messageBody } from '../../../lib/upstream/formats/message/request.ts';

type Ttl = CacheMarker['ttl'] | undefined;

const text = (ttl: Ttl): TextContent => ({ type: 'text', text: 'a', ...(ttl && { cache: { ttl } }) });
const LETTERS = { '5': '5m', h: '1h', '-': undefined } as const;

/** `5`, `h` and `-` for each tool, system text and message: `55|h|-5`. */
function send(marked: string): string {
  const [tools = [], system = [], messages = []] = marked
    .split('|')
    .map((part) => [...part].map((letter) => LETTERS[letter as keyof typeof LETTERS] as Ttl));
  const call: TextCall = {
    model: 'm',
    system: system.map(text),
    messages: messages.map((ttl) => ({ role: 'user', content: [text(ttl), text(undefined)] })),
    tools: { list: tools.map((ttl, at) => ({ name: `f${at}`, schema: {}, ...(ttl && { cache: { ttl } }) })) },
    maxTokens: 9,
    options: {},
  };
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any shape
  const body = messageBody(call, String) as any;
  const letter = ({ cache_control: marker }: { cache_control?: { ttl?: string } }) =>
    marker ? (marker.ttl === '1h' ? 'h' : '5') : '-';
  const write = (blocks: unknown) => (Array.isArray(blocks) ? blocks.map(letter).join('') : '-'.repeat(system.length));
  const said = body.messages.map(({ content }: { content: object[] }) => letter(content[0] ?? {})).join('');
  return `${write(body.tools)}|${write(body.system)}|${said}`;
}

describe('cache markers of the messages format', () => {
  for (const [given, sent] of [
    ['--|-|--', '--|-|--'],
    ['5|5|55', '5|5|55'],
    ['h|h|55', 'h|h|55'],
    // Too many: the end of what conversations share, and the latest.
    ['55|5|5', '55|5|5'],
    ['5|55|55', '-|55|55'],
    ['55|5|55555', '--|5|--555'],
    ['-|-|55555', '-|-|-5555'],
    // A longer one after a shorter one.
    ['5|h|5', '5|5|5'],
    ['-|-|5h', '-|-|55'],
    ['h|5|h', 'h|5|5'],
    // The shorter one is left out itself.
    ['5|h|hhh', '-|h|hhh'],
  ] as const) {
    it(`of ${given} are ${sent}`, () => expect(send(given)).to.equal(sent));
  }

  it('make every text a block, already one of them', () => {
    const texts = (ttl: Ttl) => {
      const content = [{ type: 'text', text: 'a' }] as const;
      const said = [{ role: 'user', content }] as const;
      return messageBody({ model: 'm', system: [text(ttl)], messages: said, maxTokens: 9, options: {} }, String);
    };
    expect(texts('5m')).to.have.nested.property('messages[0].content[0].text', 'a');
    expect(texts(undefined)).to.have.nested.property('messages[0].content', 'a');
  });
});
