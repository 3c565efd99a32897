// The building blocks of pages.
import { expect } from 'chai';
import { orUsual, table } from '../../lib/console/components.ts';

describe('a table', () => {
  const columns = ['Time', 'Call', 'Model'].map((title) => ({ title }));
  const row = ['now', 'req_1', '<lite>'];

  it('labels each value of a wide table for narrow screens', () => {
    const { text } = table('Calls', [...columns, { title: 'Charged', number: true }], [[...row, '0.50']]);
    expect(text).to.contain('<table class="rows" role="table">');
    expect(text).to.contain('<td role="cell" data-title="Model">&lt;lite&gt;</td>');
    expect(text).to.contain('<td role="cell" data-title="Charged" class="number">0.50</td>');
    expect(text.match(/role="row"/g)).to.have.length(2);
  });

  it('says which values make the two lines of a row on narrow screens, and which are left out there', () => {
    const titled = [
      { title: 'Time', narrow: 'main' },
      { title: 'Action', narrow: 'line' },
      { title: 'Status' },
      { title: 'Calls', number: true, narrow: 'named' },
      { title: 'Sum', number: true, narrow: 'sum' },
    ] as const;
    const { text } = table('Calls', titled, [['now', 'made', orUsual('done', true), orUsual('2', false), '0.50']]);
    expect(text).to.contain('<table class="rows brief"');
    const classes = [...text.matchAll(/<td [^>]*class="([^"]+)"/g)].map(([, names]) => names);
    expect(classes).to.deep.equal(['main', 'line', 'note usual', 'named number', 'sum number']);
  });

  it('stays a plain table with few columns', () => {
    const { text } = table('Calls', columns, [row]);
    expect(text)
      .to.contain('<td>req_1</td>')
      .and.not.to.match(/data-title|class="rows"|role="cell"/);
  });
});
