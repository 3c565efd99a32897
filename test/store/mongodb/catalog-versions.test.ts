// A version of the catalog whose save is answered too late in MongoDB: whoever saved it is not told that somebody else has.
import { expect } from 'chai';
import { Db, type Document, MongoNetworkError } from 'mongodb';
import { MONGODB } from '../../../testkit/stores.ts';
import { useStore } from '../../contract/store/context.ts';

describe('MongoDB: versions of the catalog', () => {
  const context = useStore(MONGODB);
  const { command } = Db.prototype;

  afterEach(() => {
    Db.prototype.command = command;
  });

  it('are added once if the answer is lost, and not over one of somebody else', async () => {
    const { catalogVersions } = context.store;
    const version = { seq: 1, at: 5, user: 'usr_1', note: 'one', text: '{}' };
    let lost = 0;
    Db.prototype.command = async function (this: Db, ...args) {
      const reply = await command.apply(this, args);
      if ((args[0] as Document).insert === 'catalog_versions' && lost++ % 2 === 0) throw new MongoNetworkError('cut');
      return reply;
    };
    expect(await catalogVersions.add(version)).to.equal(true);
    expect(await catalogVersions.add({ ...version, user: 'usr_2' })).to.equal(false);
    expect([lost, await catalogVersions.page({ limit: 5 })]).to.deep.equal([4, [version]]);
  });
});
