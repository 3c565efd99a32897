// Papers for companies: numbers without gaps or twins, and changes of several at once or of none.
import { expect } from 'chai';
import type { PaperRow } from '../../../lib/store/ports/papers.ts';
import type { Store } from '../../../lib/store/store.ts';
import { longer } from '../../../testkit/long.ts';
import { LINE } from '../../../testkit/papers.ts';
import { AT, newId, rejection, type StoreContext } from './context.ts';

type Issue = Parameters<Store['papers']['issue']>[0];

export function newPaper(more: Partial<PaperRow> = {}): PaperRow {
  const paper = { kind: 'invoice', id: newId('inv'), number: null, account: newId('acc') } as const;
  return { ...paper, state: 'open', at: AT, version: 1, content: '{"a":"é"}', ...more };
}

export function paperContract(context: StoreContext): void {
  it('get numbers without gaps or twins from two openers at once, and keep them', async () => {
    const openers = [context.store, await context.other()];
    const drafts = Array.from({ length: longer(12, 60) }, (_, at): Issue => {
      const { number: _number, version: _version, ...draft } = newPaper({ at: AT + at });
      return draft;
    });
    const issued = await Promise.all(drafts.map((draft, at) => (openers[at % 2] as Store).papers.issue(draft)));
    const numbers = issued.map(({ number }) => number ?? 0).toSorted((one, other) => one - other);
    const first = numbers[0] ?? 0;
    expect(numbers).to.deep.equal(numbers.map((_, at) => first + at));
    const [draft, paper] = [drafts[0] as Issue, issued[0] as PaperRow];
    expect(paper).to.deep.equal({ ...draft, number: paper.number, version: 1 });
    expect(await openers[1]?.papers.issue({ ...draft, state: 'other' })).to.deep.equal(paper);
    expect(await context.store.papers.find('invoice', paper.number ?? 0)).to.deep.equal(paper);
    expect(await context.store.papers.find('act', paper.number ?? 0)).to.not.deep.equal(paper);
    const twice = newPaper();
    const both = await Promise.all(openers.map(({ papers }) => papers.issue(twice)));
    expect(both[0]).to.deep.equal(both[1]);
  });

  it('change together, each by the version that was read, or not at all', async () => {
    const { papers } = context.store;
    const [one, other] = [newPaper({ kind: 'payment' }), newPaper({ kind: 'buyer' })];
    expect(await papers.change([one, other])).to.equal(true);
    expect(await papers.change([one])).to.equal(false);
    const paid = { ...one, version: 2, state: 'claimed', account: null };
    expect(await papers.change([paid, other])).to.equal(false);
    expect(await papers.get('payment', one.id)).to.deep.equal(one);
    expect(await papers.change([paid, { ...other, version: 2, content: '{}' }])).to.equal(true);
    expect(await papers.get('payment', one.id)).to.deep.equal(paid);
    expect(await papers.get('buyer', one.id)).to.equal(undefined);
    const many = Array.from({ length: 150 }, () => newPaper({ kind: 'payment' }));
    expect(await papers.change(many)).to.equal(true);
    expect(await papers.change([newPaper({ kind: 'payment' }), ...many.slice(-1)])).to.equal(false);
    const rivals = ['claimed', 'dismissed', 'open'].map((state) => papers.change([{ ...paid, version: 3, state }]));
    expect((await Promise.all(rivals)).filter(Boolean)).to.have.length(1);
  });

  it('change with their line of the audit log, or without both', async () => {
    const { papers, auditLog } = context.store;
    const account = newId('acc');
    const line = { ...LINE, account };
    const readLines = async () => (await auditLog.page({ account, limit: 9 })).map(({ seq: _seq, ...row }) => row);
    const paper = newPaper({ kind: 'payment', account });
    const bad = { ...line, detail: null as unknown as string };
    await rejection(papers.change([paper], bad));
    expect(await papers.get('payment', paper.id)).to.equal(undefined);
    expect(await papers.change([paper], line)).to.equal(true);
    expect(await papers.change([paper], { ...line, action: 'late' })).to.equal(false);
    const changed = { ...paper, version: 2, state: 'dismissed' };
    await rejection(papers.change([changed], bad));
    expect(await papers.get('payment', paper.id)).to.deep.equal(paper);
    expect(await readLines()).to.deep.equal([line]);
    const openers = [context.store, await context.other()];
    const names = ['one', 'other', 'third', 'fourth'];
    const rivals = names.map((action, at) => openers[at % 2]?.papers.change([changed], { ...line, action }));
    const winner = (await Promise.all(rivals)).indexOf(true);
    expect(await readLines()).to.deep.equal([{ ...line, action: names[winner] }, line]);
    expect(await papers.get('payment', paper.id)).to.deep.equal(changed);
  });

  it('are listed newest first, by account and state, and all of them by pages', async () => {
    const { papers } = context.store;
    const account = newId('acc');
    const rows = [1, 2, 2, 3].map((at, index) =>
      newPaper({ kind: 'act', id: newId('act'), account, at: AT + at, state: index === 0 ? 'issued' : 'open' }),
    );
    await papers.put(rows);
    const listed: PaperRow[] = [];
    for (let before: PaperRow | undefined; ; ) {
      const page = await papers.list({ kind: 'act', account, limit: 3, ...(before && { before }) });
      listed.push(...page);
      before = page.at(-1);
      if (!before) break;
    }
    expect(listed.map(({ at }) => at - AT)).to.deep.equal([3, 2, 2, 1]);
    expect(new Set(listed.map(({ id }) => id)).size).to.equal(4);
    expect(await papers.list({ kind: 'act', account, state: 'issued', limit: 9 })).to.deep.equal([rows[0]]);
    expect(await papers.list({ kind: 'buyer', account, limit: 9 })).to.deep.equal([]);
    const byState = await papers.list({ kind: 'act', state: 'issued', limit: 1 });
    expect(byState.map(({ state }) => state)).to.deep.equal(['issued']);
    const all: PaperRow[] = [];
    for (let after: PaperRow | undefined; ; ) {
      const page = await papers.page({ limit: 3, ...(after && { after }) });
      all.push(...page);
      after = page.at(-1);
      if (!after) break;
    }
    expect(all.filter((row) => row.account === account)).to.have.length(4);
  });
}
