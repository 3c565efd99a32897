// The reference of the contract in the documents is that of the types, with none missing.
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { buildPaymentsReference, buildReference, SECTIONS } from '../../../scripts/contract-reference.ts';

const ROOT = new URL('../../../', import.meta.url);
/** Of payments, which have a page of their own. */
const OTHERS = ['payment'];

describe('the reference of the contract', () => {
  const page = readFileSync(new URL('docs/providers-contract.md', ROOT), 'utf8');

  it('is made from the types as they are: run `node scripts/contract-reference.ts`', () => {
    expect(page).to.equal(buildReference());
  });

  it('of payments too', () => {
    const own = readFileSync(new URL('docs/payments-contract.md', ROOT), 'utf8');
    expect(own).to.equal(buildPaymentsReference());
    for (const type of ['PaymentPlugin', 'Order', 'SavedMethod', 'NoticeVerdict', 'PageReply']) {
      expect(own).to.match(new RegExp(`^(interface|type) ${type}\\b`, 'm'));
    }
    expect(own).not.to.match(/^(import|export) /m);
  });

  it('has every file of the contract, and every type of it', () => {
    const folder = new URL('lib/upstream/contract/', ROOT);
    const names = readdirSync(folder).map((name) => name.replace(/\.ts$/, ''));
    const listed = SECTIONS.map(([file]) => file);
    expect(names.filter((name) => !listed.includes(name))).to.deep.equal(OTHERS);
    for (const name of names.filter((each) => !OTHERS.includes(each))) {
      const source = readFileSync(new URL(`${name}.ts`, folder), 'utf8');
      for (const [, type = ''] of source.matchAll(/^export (?:interface|type) (\w+)/gm)) {
        expect(page).to.match(new RegExp(`^(interface|type) ${type}\\b`, 'm'));
      }
    }
    expect(page).not.to.match(/^(import|export) /m);
  });
});
