// What of one citation is read and written, in the shapes of messages and chats.
import { expect } from 'chai';
import {
  readChatAnnotation,
  readMessageCitation,
  writeCitationBack,
  writeMessageCitation,
  writeResponsesAnnotations,
} from '../../../lib/upstream/formats/citations.ts';

describe('a citation', () => {
  it('is none without a type', () => {
    for (const value of [null, undefined, 5, 'a', [], {}, { type: 5 }, { url: 'https://a.example', title: 'A' }]) {
      expect([readMessageCitation(value), readChatAnnotation(value)]).to.deep.equal([undefined, undefined]);
    }
  });

  it('leaves out half a range, negative numbers and empty texts', () => {
    const empty = { document_title: 'Notes', cited_text: '' };
    for (const no of [undefined, null, -1, 0.5, '1']) {
      for (const [from, to] of [
        [1, no],
        [no, 1],
      ]) {
        const ends = { start_char_index: from, end_char_index: to };
        const cited = readMessageCitation({ type: 'char_location', document_index: no, ...ends, ...empty });
        expect(cited).to.have.keys('title', 'original');
        const annotation = { type: 'url_citation', start_index: from, end_index: to, title: 5, content: '' };
        expect(readChatAnnotation(annotation)).to.have.keys('original');
      }
    }
  });

  it('is of a document only with its number, a range and, to be sent back, a quote', () => {
    const whole = { document: 0, range: { unit: 'pages', start: 1, end: 2 }, quote: 'a' } as const;
    expect(writeMessageCitation(whole)).to.include({ type: 'page_location', document_index: 0, cited_text: 'a' });
    expect(writeCitationBack(whole)).to.deep.equal(writeMessageCitation(whole));
    for (const left of ['document', 'range'] as const) {
      const { [left]: _, ...part } = { ...whole, url: 'https://a.example' };
      expect(writeMessageCitation(part)).to.include({ type: 'web_search_result_location' });
      expect(writeCitationBack(part)).to.equal(undefined);
    }
    const { quote: _, ...bare } = { ...whole, url: 'https://a.example' };
    expect(writeCitationBack(bare)).to.equal(undefined);
  });

  it('of a text that was a part of another begins with it, and ends no earlier than it begins', () => {
    const rangeOf = (start: number, end: number) =>
      writeResponsesAnnotations([{ url: 'https://a.example', passage: { start, end } }], { start: 3, end: 9 });
    expect(rangeOf(4, 8)[0]).to.include({ start_index: 1, end_index: 5 });
    expect(rangeOf(0, 5)[0]).to.include({ start_index: 0, end_index: 2 });
    expect(rangeOf(0, 2)[0]).to.include({ start_index: 0, end_index: 0 });
  });

  it('of a search result is of the page that it names as its source', () => {
    const found = { type: 'search_result_location', source: 'https://a.example', title: 'A', cited_text: 'a' };
    expect(readMessageCitation(found)).to.deep.include({ url: 'https://a.example', title: 'A', quote: 'a' });
    expect(readMessageCitation({ ...found, source: 'shelf 3' })).not.to.have.property('url');
  });

  it('has null for a title of a document that there is not, and the address for one of a page', () => {
    const range = { unit: 'characters', start: 0, end: 1 } as const;
    expect(writeMessageCitation({ document: 2, range })).to.deep.equal({
      type: 'char_location',
      cited_text: '',
      document_index: 2,
      document_title: null,
      start_char_index: 0,
      end_char_index: 1,
    });
    expect(writeMessageCitation({ url: 'https://a.example' })).to.deep.equal({
      type: 'web_search_result_location',
      cited_text: '',
      url: 'https://a.example',
      title: 'https://a.example',
      encrypted_index: '',
    });
  });
});
