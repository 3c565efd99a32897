import { expect } from 'chai';
import { runDrill } from '../../testkit/drill.ts';
import { createMongoDatabase, type MongoDatabase } from '../../testkit/mongod.ts';

describe('drill: backup, loss, restore', () => {
  let mongo: MongoDatabase | undefined;
  after(() => mongo?.remove());

  it('SQLite', async () => {
    const lines: string[] = [];
    await runDrill({ say: (line) => lines.push(line) });
    expect(lines.filter((line) => line.includes('tollgate store')).length).to.equal(1);
  }).timeout(300_000);

  it('MongoDB', async () => {
    mongo = await createMongoDatabase();
    const lines: string[] = [];
    await runDrill({ mongoUrl: mongo.url, say: (line) => lines.push(line) });
    expect(lines.filter((line) => line.includes('tollgate store')).length).to.equal(2);
  }).timeout(300_000);
});
