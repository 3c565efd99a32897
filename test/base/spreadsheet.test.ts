// Texts that a spreadsheet would run as formulas.
import { expect } from 'chai';
import { escapeFormulas } from '../../lib/base/spreadsheet.ts';

describe('formulas in texts for spreadsheets', () => {
  const texts = {
    '=1+1': "'=1+1",
    '+1': "'+1",
    '-1': "'-1",
    '@SUM(A1)': "'@SUM(A1)",
    '\t=1': "'\t'=1",
    '＝1＋1': "'＝1＋1",
    // A spreadsheet splits lines at commas in one country, at semicolons in another.
    'laptop;=HYPERLINK(A1)': "laptop;'=HYPERLINK(A1)",
    'laptop,=1;@x': "laptop,'=1;'@x",
    // A quote is written as two. Split at the other sign, they begin a cell as a quoted text that is empty.
    'laptop;"=HYPERLINK(A1)': 'laptop;"\'=HYPERLINK(A1)',
    'laptop;@x': "laptop;'@x",
    'a "=1"': 'a "=1"',
    'a=1': 'a=1',
    'a-b, c': 'a-b, c',
    '': '',
  };
  for (const [text, written] of Object.entries(texts)) {
    it(`are text: ${JSON.stringify(text)}`, () => expect(escapeFormulas(text)).to.equal(written));
  }
});
