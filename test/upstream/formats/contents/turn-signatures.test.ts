// Which part of an earlier answer with images each of its signatures belongs to.
import { expect } from 'chai';
import type { Content } from '../../../../lib/upstream/contract/provider.ts';
import { findTurnSignatures } from '../../../../lib/upstream/formats/contents/turn-signatures.ts';

const text = (said: string): Content => ({ type: 'text', text: said });
const image = (): Content => ({ type: 'image', mediaType: 'image/png', bytes: new Uint8Array() });
const signature = (value: string): Content => ({
  type: 'reasoning',
  text: '',
  state: { format: 'contents', value },
});

describe('the signatures of an earlier answer with images', () => {
  const signedOf = (content: readonly Content[], noSignature?: string) => {
    const found = findTurnSignatures(content, noSignature);
    return content.map((part) => found?.signed.get(part) ?? (found?.spent.has(part) ? 'spent' : ''));
  };

  it('belong to what they follow', () => {
    const content = [text('one'), image(), signature('a'), text('two'), image(), signature('b')];
    expect(signedOf(content)).to.deep.equal(['', 'a', 'spent', '', 'b', 'spent']);
    expect(signedOf([text('one'), signature('a'), image(), signature('b')])).to.deep.equal([
      'a',
      'spent',
      'b',
      'spent',
    ]);
  });

  it('are those of the images, the last ones first, where a client has moved them to the front', () => {
    const content = [signature('t'), signature('a'), signature('b'), text('one'), image(), text('two'), image()];
    expect(signedOf(content)).to.deep.equal(['spent', 'spent', 'spent', 't', 'a', '', 'b']);
  });

  it('have a stand-in for each that is missing, and are none without images', () => {
    expect(signedOf([text('one'), image(), signature('a'), text('two')], 'none')).to.deep.equal([
      'none',
      'a',
      'spent',
      'none',
    ]);
    expect(findTurnSignatures([text('one'), signature('a')])).to.equal(undefined);
  });
});
