// A process with an open transaction that has written a wallet, to be killed before the commit.
import { connect } from '../../../lib/store/mongodb/connection.ts';
import { createTransactions } from '../../../lib/store/mongodb/transaction.ts';
import { createSessions } from '../../../lib/store/mongodb/transaction-sessions.ts';

const [, , url = '', wallet = ''] = process.argv;
const connection = await connect(url);
const transactions = createTransactions(connection.db, createSessions(connection));
await transactions.run({
  steps: async (step) => {
    await step({ update: 'wallets', updates: [{ q: { _id: wallet }, u: { $inc: { seq: 100 } } }] });
    process.send?.('open');
    await new Promise(() => undefined);
  },
});
