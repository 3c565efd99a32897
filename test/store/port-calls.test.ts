// Wrappers of a whole store have every port, even one added later.
import { expect } from 'chai';
import { copyStore } from '../../lib/store/copy.ts';
import { withGracefulClose } from '../../lib/store/graceful-close.ts';
import { listPortNames, READS, STREAMS } from '../../lib/store/port-calls.ts';
import { withoutWrites } from '../../lib/store/read-only.ts';
import { type Store, StoreError } from '../../lib/store/store.ts';
import { type FaultyStore, makeGate, openFaultyStore } from '../../testkit/faulty-store.ts';
import { newId, rejection } from '../contract/store/context.ts';
import { bytesOf, newMedia, piecesOf } from '../contract/store/media.ts';
import { PNG } from '../media/sample-images.ts';

interface Fake {
  readonly fake: { readonly shape: string; get(): Promise<string>; add(): Promise<string> };
}

describe('ports of a store', () => {
  let opened: FaultyStore;
  let store: Store & Fake;

  beforeEach(async () => {
    opened = await openFaultyStore();
    store = { ...opened.real, fake: { shape: 'round', get: async () => 'got', add: async () => 'added' } };
  });
  afterEach(() => opened.close());

  it('are all listed, with existing calls', () => {
    expect(listPortNames(opened.real)).to.have.members(Object.keys(READS));
    const ports: Record<string, object> = { ...opened.real };
    for (const [name, reads] of Object.entries(READS)) {
      for (const read of reads) expect(ports[name], name).to.have.property(read);
    }
  });

  it('stream only reads, and wrap streams as streams', async () => {
    for (const [name, streams] of Object.entries(STREAMS)) {
      expect(READS[name as keyof typeof READS]).to.include.members([...streams]);
    }
    const media = await opened.real.media.write(newMedia(), piecesOf(PNG));
    const tracked = withGracefulClose({ ...opened.real }, async () => undefined);
    for (const wrapped of [withoutWrites(store), opened.store, tracked]) {
      expect((await bytesOf(wrapped, media.id)).equals(PNG)).to.equal(true);
    }
    const begun = tracked.media.read(media.id)[Symbol.asyncIterator]();
    const late = tracked.media.read(media.id)[Symbol.asyncIterator]();
    expect((await begun.next()).value).to.have.length(PNG.length);
    await tracked.close();
    expect(await rejection(late.next())).to.be.instanceOf(StoreError);
    await begun.return?.();
  });

  it('end a stream if the store is closed in the middle of it', async () => {
    const read = async function* () {
      yield* [Buffer.from('a'), Buffer.from('b')];
    };
    const tracked = withGracefulClose({ ...opened.real, media: { ...opened.real.media, read } }, async () => undefined);
    const stream = tracked.media.read('m')[Symbol.asyncIterator]();
    expect(String((await stream.next()).value)).to.equal('a');
    await tracked.close();
    expect(await rejection(stream.next()))
      .to.be.instanceOf(StoreError)
      .with.property('message', 'the store is closed');
  });

  it('refuse every call that is not a known read on a read-only store', async () => {
    const reading = withoutWrites(store);
    for (const [port, reads] of Object.entries({ ...READS, fake: [] as string[] })) {
      const calls = Object.entries((reading as unknown as Record<string, object>)[port] ?? {});
      for (const [name, call] of calls) {
        if (typeof call !== 'function' || (reads as readonly string[]).includes(name)) continue;
        expect(await rejection(call()), `${port}.${name}`).to.be.instanceOf(StoreError);
      }
    }
    expect(reading.fake.shape).to.equal('round');
    expect(await reading.settings.list()).to.deep.equal([]);
    expect(await reading.ledger.wallet(newId('acc'))).to.equal(undefined);
  });

  it('make a close wait for running calls of each, and refuse later ones', async () => {
    const gate = makeGate();
    const said: string[] = [];
    const slow = {
      shape: 'round',
      get: async () => {
        await gate.opened;
        said.push('got');
        return 'got';
      },
      add: async () => 'added',
    };
    const tracked = withGracefulClose(
      { ...store, fake: slow } as Store,
      async () => void said.push('closed'),
    ) as Store & Fake;
    const got = tracked.fake.get();
    const closed = tracked.close();
    gate.open();
    await Promise.all([got, closed]);
    expect(said).to.deep.equal(['got', 'closed']);
    expect(await rejection(tracked.fake.add())).to.be.instanceOf(StoreError);
    expect(await rejection(tracked.jobs.open())).to.be.instanceOf(StoreError);
  });

  it('are all handled by a copy', async () => {
    const target = await openFaultyStore();
    const error = await rejection(copyStore({ from: store, to: target.real, live: false }));
    expect(String(error)).to.include('does not know the port fake');
    expect(await target.real.settings.list()).to.deep.equal([]);
    await target.close();
  });
});
