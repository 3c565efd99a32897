import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { openStore } from '../../lib/store/open.ts';
import { type Cluster, startCluster } from '../../testkit/cluster.ts';

const CHANGES = /^(?:initiated|added|made|gave|changed)/;

describe('deploy/replica-set.ts', () => {
  let cluster: Cluster;
  before(async function () {
    this.timeout(300_000);
    cluster = await startCluster();
  });
  after(async function () {
    this.timeout(60_000);
    await cluster?.stop();
  });

  it('gives the gateways a store of their own, and nothing else', async () => {
    const store = await openStore(cluster.url);
    await store.accounts.create({ id: 'acc_1', name: 'kept', createdAt: Date.now() });
    await store.close();
    const client = await MongoClient.connect(cluster.url);
    const refused = async (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        (error: { code?: number }) => error.code,
      );
    expect(await refused(client.db('other').collection('x').insertOne({ x: 1 }))).to.equal(13);
    expect(await refused(client.db('admin').command({ usersInfo: 1 }))).to.equal(13);
    expect(await refused(client.db('admin').command({ replSetStepDown: 1 }))).to.equal(13);
    await client.close();
    const stranger = new MongoClient(cluster.url.replace(/\/\/[^@]*@/, '//').replace(/&authSource=\w+/, ''));
    expect(await refused(stranger.db('tollgate').collection('accounts').findOne())).to.equal(13);
    await stranger.close();
  }).timeout(60_000);

  it('changes nothing where all is in order', async () => {
    const said = await cluster.make();
    expect(said.filter((line) => CHANGES.test(line))).to.deep.equal([]);
    expect(said.join()).to.match(/PRIMARY/);
  }).timeout(60_000);

  it('has three voting members', async () => {
    const first = await cluster.primary();
    first.kill('SIGKILL');
    await first.exit;
    const next = await cluster.primary();
    expect(next).not.to.equal(first);
    const store = await openStore(cluster.url);
    expect((await store.accounts.list()).map(({ id }) => id)).to.deep.equal(['acc_1']);
    await store.close();
    await cluster.revive(first);
    // Also with another primary than the one it began with.
    expect((await cluster.make()).filter((line) => CHANGES.test(line))).to.deep.equal([]);
  }).timeout(180_000);

  it('gives the gateways a new password, but never takes another one for the operator', async () => {
    const said = await cluster.make({ gatewayPassword: 'another' });
    expect(said.filter((line) => CHANGES.test(line))).to.deep.equal([
      'gave the user gateway its new password or roles',
    ]);
    const error = await cluster.make({ adminPassword: 'wrong' }).then(
      () => undefined,
      (thrown: Error) => thrown,
    );
    expect(error?.message).to.equal('MONGODB_ADMIN_PASSWORD is not the password that the replica set was made with');
  }).timeout(180_000);
});
