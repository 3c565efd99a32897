// Where images of earlier answers go, and what they are estimated to cost.
import { expect } from 'chai';
import { parseChatRequest } from '../../../lib/api/dialects/chat/request.ts';
import { parseMessageRequest } from '../../../lib/api/dialects/message/request.ts';
import { parseResponsesRequest } from '../../../lib/api/dialects/responses/request.ts';
import { estimateInput } from '../../../lib/calls/text/estimate.ts';
import { placeAnswerImages, withoutAnswerImages } from '../../../lib/calls/text/history-images.ts';
import type { RequestMessage, TextRequest } from '../../../lib/calls/text/request.ts';
import { PNG } from '../../media/sample-images.ts';

const BASE64 = PNG.toString('base64');
const URL_OF = `data:image/png;base64,${BASE64}`;
const part = { type: 'image_url', image_url: { url: URL_OF } };
const source = { type: 'base64', media_type: 'image/png', data: BASE64 };
const user = (content: unknown) => ({ role: 'user', content });

/** What each part is, in short. */
const show = (messages: readonly RequestMessage[]) =>
  messages.map(({ role, content }) => [role, ...content.map((each) => (each.type === 'text' ? each.text : each.type))]);

const chat = (...messages: readonly object[]) => parseChatRequest({ model: 'm', messages });

describe('images of earlier answers in a request', () => {
  const again = user('Bluer');
  const requests: Readonly<Record<string, () => TextRequest>> = {
    'a chat': () => chat(user('Draw'), { role: 'assistant', content: 'Here.', images: [part] }, again),
    'a chat whose client has them in the content': () =>
      chat(user('Draw'), { role: 'assistant', content: [{ type: 'text', text: 'Here.' }, part] }, again),
    messages: () =>
      parseMessageRequest({
        ...{ model: 'm', max_tokens: 9 },
        messages: [
          user('Draw'),
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'Here.' },
              { type: 'image', source },
            ],
          },
          again,
        ],
      }),
    responses: () =>
      parseResponsesRequest({
        model: 'm',
        input: [
          user('Draw'),
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Here.' }] },
          { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: BASE64 },
          again,
        ],
      }),
  };
  for (const [name, request] of Object.entries(requests)) {
    it(`are read from ${name}, and do not make it one with images of the user`, () => {
      const { messages, images, answerImages } = request();
      expect(show(messages)).to.deep.equal([
        ['user', 'Draw'],
        ['assistant', 'Here.', 'image'],
        ['user', 'Bluer'],
      ]);
      expect([images, answerImages]).to.deep.equal([0, 1]);
    });
  }

  it('are left out where they are none: in other shapes, and drawn to no end', () => {
    const odd = { role: 'assistant', content: 'Here.', images: ['x', { type: 'image_url' }, null] };
    expect(chat(user('Draw'), odd, again)).to.not.have.property('answerImages');
    const broken = { type: 'image_generation_call', id: 'ig_1', status: 'failed', result: null };
    const { messages } = parseResponsesRequest({ model: 'm', input: [user('Draw'), broken] });
    expect(show(messages)).to.deep.equal([['user', 'Draw']]);
  });

  it('are refused where they are broken, by their field', () => {
    const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aGVsbG8=' } }];
    expect(() => chat(user('Draw'), { role: 'assistant', content: 'Here.', images }, again)).to.throw(
      'messages[1].images[0].image_url.url',
    );
    const item = { type: 'image_generation_call', id: 'ig_1', result: '???' };
    expect(() => parseResponsesRequest({ model: 'm', input: [user('Draw'), item, again] })).to.throw('input[1].result');
    expect(() => chat({ role: 'system', content: [part] }, user('Draw'))).to.throw(
      'only messages of users and assistants may contain images',
    );
  });

  it('count towards those of a request', () => {
    const images = Array.from({ length: 100 }, () => part);
    const drawn = { role: 'assistant', content: 'Here.', images };
    expect(chat(user('Draw'), drawn, again).answerImages).to.equal(100);
    expect(() => chat(user('Draw'), drawn, user([part]))).to.throw('at most 100 images in all');
    const more = { ...drawn, images: [...images, part] };
    expect(() => chat(user('Draw'), more, again)).to.throw('at most 100 images in all');
  });

  it('are estimated like other images, but not for a model that is not sent them', async () => {
    const request = chat(user('Draw'), { role: 'assistant', content: 'Here.', images: [part] }, again);
    const plain = await estimateInput(chat(user('Draw'), { role: 'assistant', content: 'Here.' }, again));
    const estimate = await estimateInput(request);
    for (const name of ['tokens', 'tokensHeld', 'tokensBuffered'] as const) {
      expect(estimate[name], name).to.equal(plain[name] + 1000);
      expect(withoutAnswerImages(estimate, request)[name], name).to.equal(plain[name]);
    }
    // A count without them stands: the vendor has counted what it was sent.
    expect(estimate.images).to.equal(undefined);
  });
});

describe('placing images of earlier answers', () => {
  const tool = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
  const { messages } = chat(
    user('Draw'),
    { role: 'assistant', content: null, images: [part] },
    { role: 'system', content: 'Be brief' },
    { role: 'assistant', content: 'And.', images: [part, part], tool_calls: [tool] },
    { role: 'tool', tool_call_id: 'c', content: 'Done' },
    user('Bluer'),
    { role: 'assistant', content: 'Last', images: [part] },
  );

  it('leaves them in the answer for a vendor that takes them there', () => {
    expect(placeAnswerImages(messages, { vision: true, answerImages: true })).to.equal(messages);
  });

  it('moves them into the message that follows, behind results', () => {
    expect(show(placeAnswerImages(messages, { vision: true, answerImages: false }))).to.deep.equal([
      ['user', 'Draw'],
      ['assistant', '[image]'],
      ['system', 'Be brief'],
      ['assistant', 'And.', 'tool-call'],
      ['user', 'tool-result', 'Of the answer before:', 'image', 'image', 'image'],
      ['user', 'Bluer'],
      ['assistant', 'Last'],
      ['user', 'Of the answer before:', 'image'],
    ]);
  });

  it('only tells of them to a model that sees none, whatever its vendor takes', () => {
    for (const answerImages of [true, false]) {
      expect(show(placeAnswerImages(messages, { vision: false, answerImages }))).to.deep.equal([
        ['user', 'Draw'],
        ['assistant', '[image]'],
        ['system', 'Be brief'],
        ['assistant', 'And.\n\n[image]', 'tool-call'],
        ['user', 'tool-result'],
        ['user', 'Bluer'],
        ['assistant', 'Last\n\n[image]'],
      ]);
    }
  });

  it('leaves those of the user where they are', () => {
    const { messages: own } = chat(user([part]), { role: 'assistant', content: 'A cat' }, user([part]));
    for (const vision of [true, false]) {
      expect(placeAnswerImages(own, { vision, answerImages: false })).to.deep.equal(own);
    }
  });

  it('stands for them before calls, and behind thoughts', () => {
    const [, { content: drawn }] = messages as [RequestMessage, RequestMessage];
    const { messages: called } = chat(
      user('Draw'),
      { role: 'assistant', content: null, images: [part], tool_calls: [tool] },
      { role: 'tool', tool_call_id: 'c', content: 'Done' },
    );
    expect(show(placeAnswerImages(called, { vision: false, answerImages: false }))[1]).to.deep.equal([
      ...['assistant', '[image]', 'tool-call'],
    ]);
    const thought: RequestMessage = { role: 'assistant', content: [{ type: 'reasoning', text: 'Hm' }, ...drawn] };
    for (const vision of [true, false]) {
      expect(show(placeAnswerImages([thought], { vision, answerImages: false }))[0]).to.deep.equal([
        ...['assistant', 'reasoning', '[image]'],
      ]);
    }
  });
});
