import { expect } from 'chai';
import { listIncoming, makeBankPaymentId } from '../../../lib/payments/papers/bank-payments.ts';
import {
  parseBankStatement,
  STATED_MAX,
  STATEMENT_BYTES_MAX,
  type StatementError,
} from '../../../lib/payments/papers/bank-statement.ts';
import { BUYER, SELLER, type StatementFields, writeStatement } from '../../../testkit/papers.ts';

describe('a bank statement', () => {
  const purpose = 'Оплата по счёту № 17 от 27.11.2026';

  for (const encoding of ['Windows', 'DOS', 'UTF-8'] as const)
    it(`is read in the encoding ${encoding}`, () => {
      const text = purpose.replace('ё', 'е').replace('№', 'N');
      expect(
        parseBankStatement(writeStatement([{ НазначениеПлатежа: text, Плательщик: 'АО Ромашка' }], { encoding })),
      ).to.deep.equal([
        {
          date: '2026-11-27',
          number: '41',
          kopecks: 1_000_050n,
          payerAccount: '40702810000000000777',
          payerInn: BUYER.inn,
          payerName: 'АО Ромашка',
          payeeAccount: SELLER.account,
          purpose: text,
          isReceived: true,
          isPlain: true,
        },
      ]);
    });

  it('is read although its bank says Windows and writes UTF-8, with a mark at its beginning', () => {
    const text = writeStatement([{ НазначениеПлатежа: purpose }], { encoding: 'UTF-8' }).toString();
    const bytes = Buffer.from(`\ufeff${text.replace('Кодировка=UTF-8', 'Кодировка=Windows')}`);
    expect(parseBankStatement(bytes)[0]).to.include({ purpose });
  });

  const SUMS: readonly (readonly [string, bigint | undefined])[] = [
    ['7', 700n],
    ['7.5', 750n],
    ['7,05', 705n],
    ['0.01', 1n],
    ['1000000000.00', 100_000_000_000n],
    ['1000000000.01', undefined],
    ['0.00', undefined],
    ['-7', undefined],
    ['7.001', undefined],
    ['1 000.00', undefined],
    ['', undefined],
  ];
  for (const [sum, kopecks] of SUMS)
    it(`has the sum ${sum}: ${kopecks ?? 'refused'}`, () => {
      const read = () => parseBankStatement(writeStatement([{ Сумма: sum }]));
      if (kopecks === undefined) expect(read).to.throw('has no valid Сумма');
      else expect(read()[0]).to.include({ kopecks });
    });

  it('joins the lines of a purpose, and takes the accounts of payments through another bank', () => {
    const through = { ПлательщикСчет: '', ПлательщикРасчСчет: '1', ПолучательСчет: '', ПолучательРасчСчет: '2' };
    const parts = ['Оплата', 'по', 'счёту', '5', 'от', 'ноября'];
    const purposes = Object.fromEntries(parts.map((part, at) => [`НазначениеПлатежа${at + 1}`, part]));
    const lines = { ...purposes, Плательщик1: 'ИП Ким' };
    const [payment] = parseBankStatement(writeStatement([{ ...through, ...lines, ДатаПоступило: '' }]));
    expect(payment).to.include({ payerAccount: '1', payeeAccount: '2', purpose: parts.join(' ') });
    expect(payment).to.include({ payerName: 'ИП Ким', isReceived: false });
  });

  it('says when a line is there twice, of which the first counts', () => {
    const broken = { НазначениеПлатежа: 'x\r\nСумма=999999.00' };
    expect(parseBankStatement(writeStatement([broken]))[0]).to.include({ kopecks: 1_000_050n, isPlain: false });
  });

  const withTotals = (bytes: Buffer, ...totals: readonly string[]) => {
    const section = (total: string) =>
      `СекцияРасчСчет\r\nРасчСчет=${SELLER.account}\r\nВсегоПоступило=${total}\r\nКонецРасчСчет\r\n`;
    return Buffer.from(bytes.toString().replace('СекцияДокумент', `${totals.map(section).join('')}СекцияДокумент`));
  };
  const forged = [
    [
      'x',
      'КонецДокумента',
      'СекцияДокумент=',
      'Номер=9',
      'Дата=27.11.2026',
      'Сумма=999999',
      'ДатаПоступило=27.11.2026',
    ],
    [`ПолучательСчет=${SELLER.account}`, `ПлательщикИНН=${BUYER.inn}`, 'НазначениеПлатежа=счет 1'],
  ];

  it('says when its documents bring more than came in: a purpose may have become a document of its own', () => {
    const lines = (more: readonly string[] = []) => [...forged.flat(), ...more].join('\r\n');
    const read = (purpose: string, ...totals: readonly string[]) =>
      parseBankStatement(
        withTotals(writeStatement([{ НазначениеПлатежа: purpose }, {}], { encoding: 'UTF-8' }), ...totals),
      ).map(({ isPlain }) => isPlain);
    expect(read('счёт 1', '20001.00')).to.deep.equal([true, true]);
    expect(read('счёт 1', '10000.50', '10000.50')).to.deep.equal([true, true]);
    expect(read('счёт 1', '20001.01')).to.deep.equal([true, true]);
    expect(read(lines(), '20001.00')).to.deep.equal([false, false, false]);
    // A total that it brings itself does not count.
    const own = ['СекцияРасчСчет', `РасчСчет=${SELLER.account}`, 'ВсегоПоступило=999999', 'КонецРасчСчет'];
    expect(read(lines(own), '20001.00')).to.deep.equal([false, false, false]);
    const between = lines().replace('СекцияДокумент', `${own.join('\r\n')}\r\nСекцияДокумент`);
    expect(read(between, '20001.00')).to.deep.equal([false, false, false]);
    // To the kopeck, and only what has come.
    expect(read('счёт 1', '20000.99')).to.deep.equal([false, false]);
    const ordered = withTotals(writeStatement([{ ДатаПоступило: '' }], { encoding: 'UTF-8' }), '0.00');
    expect(parseBankStatement(ordered)[0]).to.include({ isReceived: false, isPlain: true });
    const both = withTotals(writeStatement([{ ДатаПоступило: '' }, {}], { encoding: 'UTF-8' }), '10000.50');
    expect(parseBankStatement(both).map(({ isPlain }) => isPlain)).to.deep.equal([true, true]);
    // The total of a section that names no account is not that of the account before.
    const nameless = withTotals(writeStatement([{}], { encoding: 'UTF-8' }), '10000.49').toString();
    const other = 'СекцияРасчСчет\r\nВсегоПоступило=5\r\nКонецРасчСчет\r\n';
    const [doubted] = parseBankStatement(Buffer.from(nameless.replace('СекцияДокумент', `${other}СекцияДокумент`)));
    expect(doubted).to.include({ isPlain: false });
    // Without a total, nobody can tell.
    expect(read('счёт 1', '20001.00', '')).to.deep.equal([true, true]);
  });

  it('has the same payments however another export spells their numbers and accounts', () => {
    const account = '40702810000000000777';
    const spellings: readonly StatementFields[] = [
      { Номер: '41', ПлательщикСчет: account },
      { Номер: '000041', ПлательщикСчет: '40702.810.0.00000000777' },
      {
        Номер: '№ 41',
        ПлательщикСчет: '40702 810 0 00000000777',
        ПолучательСчет: SELLER.account.replace(/(.{5})/, '$1 '),
      },
    ];
    const ids = spellings.map((fields) => {
      const [payment] = listIncoming(
        parseBankStatement(writeStatement([fields], { encoding: 'UTF-8' })),
        SELLER.account,
      );
      return payment && makeBankPaymentId(payment);
    });
    expect(new Set(ids)).to.deep.equal(new Set([`bank:2026-11-27:41:${account}:1000050`]));
    const [zeros] = parseBankStatement(writeStatement([{ Номер: '000' }]));
    expect(zeros && makeBankPaymentId(zeros)).to.equal(`bank:2026-11-27:0:${account}:1000050`);
  });

  it('is read in full up to its largest, and past lines that say nothing', () => {
    const good = writeStatement([{}], { encoding: 'UTF-8' });
    const [payment] = parseBankStatement(good);
    expect(parseBankStatement(Buffer.concat([good, Buffer.alloc(STATEMENT_BYTES_MAX - good.length)]))).to.have.length(
      1,
    );
    expect(
      parseBankStatement(
        writeStatement(
          Array.from({ length: STATED_MAX }, () => ({})),
          { encoding: 'UTF-8' },
        ),
      ),
    ).to.have.length(STATED_MAX);
    for (const line of ['КонецДокумента', 'РасчСчет', 'ВсегоПоступило', 'x', '']) {
      const bytes = Buffer.from(good.toString().replace('СекцияДокумент', `${line}\r\nСекцияДокумент`));
      expect(parseBankStatement(bytes), line).to.deep.equal([payment]);
    }
  });

  it('is refused with a clear error when it is none, damaged or too large', () => {
    const good = writeStatement([{}]);
    const problems: readonly (readonly [Buffer, string])[] = [
      [Buffer.from(''), 'is not a bank statement'],
      [Buffer.from('a;b\n1;2'), 'is not a bank statement'],
      [Buffer.from([0xff, 0xd8, 0xff]), 'is not a bank statement'],
      [Buffer.from('x\nКодировка=UTF-8'), 'is not a bank statement'],
      [Buffer.from('1CClientBankExchange\nКонецФайла\n'), 'encoding'],
      [Buffer.concat([Buffer.from('1CClientBankExchange\nКодировка=UTF-8\n'), Buffer.from([0xff])]), 'encoding'],
      [writeStatement([{}], { end: '' }), 'cut off'],
      [good.subarray(0, good.length - 30), 'on line 7 does not end'],
      [writeStatement([{ Номер: '' }]), 'on line 7 has no valid Номер'],
      [writeStatement([{}, { Дата: '31.02.2026' }]), 'has no valid Дата'],
      [Buffer.alloc(STATEMENT_BYTES_MAX + 1), 'more than 4 MiB'],
      [writeStatement(Array.from({ length: STATED_MAX + 1 }, () => ({}))), `more than ${STATED_MAX} documents`],
    ];
    for (const [bytes, message] of problems) expect(() => parseBankStatement(bytes), message).to.throw(message);
    const twice = writeStatement([{}, {}], { encoding: 'UTF-8' }).toString().replace('КонецДокумента\r\n', '');
    const where = (bytes: Buffer) => {
      try {
        parseBankStatement(bytes);
      } catch (error) {
        const { problem, line, field } = error as StatementError;
        return [problem, line, field];
      }
    };
    expect(where(Buffer.from(twice))).to.deep.equal(['unfinished_document', 7, undefined]);
    expect(where(writeStatement([{}, { Сумма: '' }]))).to.deep.equal(['field', 17, 'Сумма']);
    expect(where(Buffer.from(''))).to.deep.equal(['not_statement', undefined, undefined]);
    const nested = good.toString('latin1').replace(/(?<=\r\n)[^\r]*\r\n[^\r]*\r\n\r?\n?$/, '');
    expect(() => parseBankStatement(Buffer.from(nested, 'latin1'))).to.throw('does not end');
  });
});
