// The output of commands: aligned text and CSV values.
import { expect } from 'chai';
import { toJson, withoutControls } from '../../lib/cli/output.ts';
import { formatCsv, formatPairs, formatTable } from '../../lib/manage/answer.ts';

describe('cli output', () => {
  it('quotes CSV values that need it, and escapes formulas', () => {
    const cells: Readonly<Record<string, string>> = {
      plain: 'plain',
      'a,b': '"a,b"',
      'a"b': '"a""b"',
      'a\nb': '"a\nb"',
      'a\rb': '"a\rb"',
      '=1+1': "'=1+1",
      '+1': "'+1",
      '-1+1': "'-1+1",
      '-1': '-1',
      '-12.50': '-12.50',
      '@x': "'@x",
      '\tx': "'\tx",
      '\r=x': '"\'\r\'=x"',
      'a;=1': "a;'=1",
      'a=1': 'a=1',
      '': '',
    };
    for (const [cell, written] of Object.entries(cells)) {
      expect(formatCsv(['head', 'last'], [[cell, '7']]), cell).to.equal(`head,last\n${written},7\n`);
    }
  });

  it('removes control characters from texts of others', () => {
    const text = 'Browser\u009b31m \u001b]0;title\u0007\u007f é\n';
    expect(withoutControls(text)).to.equal('Browser\ufffd31m \ufffd]0;title\ufffd\ufffd é\n');
    const json = toJson({ text });
    expect(json).to.match(/^[^\p{Cc}]*$/u);
    expect(JSON.parse(json)).to.deep.equal({ text });
  });

  it('aligns pairs and columns', () => {
    expect(
      formatPairs([
        ['a', '1'],
        ['longer', '2'],
      ]),
    ).to.equal('a       1\nlonger  2');
    expect(
      formatTable(
        ['id', ' rub', 'note'],
        [
          ['1', '9.50', ''],
          ['100', '1000.00', 'x'],
        ],
      ),
    ).to.equal(['id       rub  note', '1       9.50', '100  1000.00  x'].join('\n'));
  });
});
