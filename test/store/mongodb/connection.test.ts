// The options of a connection: waiting times, read and write concern, and the database.
import { expect } from 'chai';
import { type Connection, connect } from '../../../lib/store/mongodb/connection.ts';
import { MONGODB } from '../../../testkit/stores.ts';
import { useStore } from '../../contract/store/context.ts';

/** Of one attempt: no wait of the driver is longer. */
const ATTEMPT_MS = 1500;

describe('MongoDB: a connection', () => {
  const context = useStore(MONGODB);

  async function connected(url: string, look: (connection: Connection) => void): Promise<void> {
    const connection = await connect(url);
    try {
      look(connection);
    } finally {
      await Promise.all([connection.client.close(), connection.scanner.close()]);
    }
  }

  it('waits no longer than an attempt, and does not retry writes by itself', () =>
    connected(context.url, ({ client, scanner }) => {
      for (const { options } of [client, scanner]) {
        const { serverSelectionTimeoutMS, connectTimeoutMS, waitQueueTimeoutMS, retryWrites, appName } = options;
        expect([serverSelectionTimeoutMS, connectTimeoutMS, waitQueueTimeoutMS]).to.deep.equal(
          Array.from({ length: 3 }, () => ATTEMPT_MS),
        );
        expect({ retryWrites, appName }).to.deep.equal({ retryWrites: false, appName: 'tollgate' });
        expect(options.heartbeatFrequencyMS).to.be.at.most(1000);
      }
      expect(client.options.socketTimeoutMS, 'a server that is frozen').to.be.within(ATTEMPT_MS, 2 * ATTEMPT_MS);
      expect(scanner.options.socketTimeoutMS, 'a long scan').to.equal(0);
    }));

  it('survives a failed background socket', () =>
    connected(context.url, ({ client, scanner }) => {
      for (const each of [client, scanner]) each.emit('error', new Error('timed out'));
    }));

  it('reads majority data from the primary, and writes to a majority', () =>
    connected(context.url, ({ client, db }) => {
      expect(db.readConcern?.level).to.equal('majority');
      expect(client.options.readPreference.mode).to.equal('primary');
      expect(client.options.writeConcern?.w).to.equal('majority');
    }));

  it('uses the database of the URL, or one called tollgate', async () => {
    const { host, search } = new URL(context.url.replace('mongodb:', 'http:'));
    for (const [path, name] of [
      ['/', 'tollgate'],
      ['/other', 'other'],
    ] as const) {
      await connected(`mongodb://${host}${path}${search}`, ({ db }) => expect(db.databaseName).to.equal(name));
    }
  });
});
