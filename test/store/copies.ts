// Two stores for each test of copies: a source with a wallet, and an empty target.
import { COPY_SETTING, COPY_UNFINISHED, type CopyReport, copyStore } from '../../lib/store/copy.ts';
import { type FaultyStore, openFaultyStore } from '../../testkit/faulty-store.ts';
import { applied, newAttempt, newId, newWallet, RUB, reserve, settle } from '../contract/store/context.ts';

export interface Copies {
  readonly source: FaultyStore;
  readonly target: FaultyStore;
  readonly wallet: string;
}

/** `onOpen` is called before each test. */
export function useCopies(onOpen: (opened: Copies) => void) {
  let opened: Copies;
  beforeEach(async () => {
    const [source, target] = (await Promise.all([openFaultyStore(), openFaultyStore()])) as [FaultyStore, FaultyStore];
    opened = { source, target, wallet: await newWallet(source.real) };
    onOpen(opened);
  });
  afterEach(async () => {
    await opened.source.close();
    await opened.target.close();
  });
  return {
    copy: (live = false): Promise<CopyReport> =>
      copyStore({ from: opened.source.store, to: opened.target.store, live }),
    /** As it was when the copy was killed. */
    breakOff: () => opened.target.real.settings.set(COPY_SETTING, COPY_UNFINISHED),
  };
}

/** One that has ended, and one that has not. */
export async function addCalls({ source, wallet }: Pick<Copies, 'source' | 'wallet'>): Promise<void> {
  const open = newId('req');
  const ended = newId('req');
  const holds = [reserve(wallet, { chargeId: open, excess: 5n * RUB }), reserve(wallet, { chargeId: ended })];
  await applied(
    source.real,
    ...holds,
    settle(wallet, ended, { attempts: [newAttempt({ ending: 'failed' }), newAttempt()] }),
  );
}
