// Connects to a MongoDB URL; refuses a server that cannot hold a ledger, with one plain line.
import { type Db, type Document, MongoClient, type MongoClientOptions, MongoServerError, ReadConcern } from 'mongodb';
import { joinLines } from '../../base/one-line.ts';
import { OperatorError } from '../../base/operator-error.ts';
import { ATTEMPT_MS, delay, withDeadline } from './call.ts';
import { type ServerClock, watchClock } from './clock.ts';

export interface Connection {
  readonly client: MongoClient;
  /** Reads see only majority-committed data, which no failover undoes. */
  readonly db: Db;
  /** A client for long scans, without a socket timeout. */
  readonly scanner: MongoClient;
  readonly clock: ServerClock;
}

const OPTIONS: MongoClientOptions = {
  appName: 'tollgate',
  serverSelectionTimeoutMS: ATTEMPT_MS,
  connectTimeoutMS: ATTEMPT_MS,
  waitQueueTimeoutMS: ATTEMPT_MS,
  socketTimeoutMS: 3000,
  heartbeatFrequencyMS: 1000,
  // We retry ourselves: the retries of the driver hang as long as a frozen server does.
  retryWrites: false,
  useBigInt64: true,
  readPreference: 'primary',
  writeConcern: { w: 'majority' },
};
/** Longer than an election that happens during the start. */
const START_MS = 5000;
const DATABASE = 'tollgate';
const VERSION_MIN = 6;

export async function connect(url: string): Promise<Connection> {
  const client = createClient(url);
  const clock = watchClock(client);
  try {
    await checkServer(client);
  } catch (error) {
    const refusal = explainFailure(client, error);
    await client.close();
    throw refusal;
  }
  // The driver would default to `test`.
  const name = /^[^?]*?\/\/[^/?]+\/[^?]/.test(url) ? undefined : DATABASE;
  const scanner = createClient(url, { ...OPTIONS, socketTimeoutMS: 0 });
  return { client, db: client.db(name, { readConcern: new ReadConcern('majority') }), scanner, clock };
}

function createClient(url: string, options = OPTIONS): MongoClient {
  try {
    return new MongoClient(url, options);
  } catch (error) {
    const hint = url.includes('@')
      ? ' In the user and the password, write @ as %40, / as %2F, : as %3A and % as %25.'
      : '';
    throw new OperatorError(`The database URL is not a valid mongodb URL${describeUrlError(error, url)}.${hint}`);
  }
}

/** The message of the driver, unless it contains a possibly secret part of the URL. */
function describeUrlError(error: unknown, url: string): string {
  const message = joinLines(error instanceof Error ? error.message : '').replace(/\.$/, '');
  const secrets = /\/\/(.*)@/.exec(url)?.[1]?.split(':') ?? [];
  return message === '' || secrets.some((secret) => secret !== '' && message.includes(secret)) ? '' : `: ${message}`;
}

async function checkServer(client: MongoClient): Promise<void> {
  const until = performance.now() + START_MS;
  while (true) {
    try {
      const [hello, build] = await withDeadline(2 * ATTEMPT_MS, async (signal) => {
        const admin = client.db('admin');
        const said = await admin.command({ hello: 1 }, { signal });
        return [said, await admin.command({ buildInfo: 1 }, { signal })] as const;
      });
      const refusal = findServerProblem(hello, build);
      if (refusal) throw new OperatorError(`The MongoDB server at ${listHosts(client)} ${refusal}`);
      return;
    } catch (error) {
      const final = error instanceof OperatorError || error instanceof MongoServerError;
      if (final) throw error;
      const { refusal, isPermanent } = await askServerDirectly(client);
      if (refusal !== undefined && (isPermanent || performance.now() > until)) throw new OperatorError(refusal);
      if (performance.now() > until) throw error;
      await delay(200);
    }
  }
}

/** Why the server with these replies cannot be used, as the end of a sentence. */
export function findServerProblem(hello: Document, build: Document): string | undefined {
  if (hello.isreplicaset) return 'is in a replica set that was never initiated: run rs.initiate() on it.';
  if (hello.setName === undefined && hello.msg !== 'isdbgrid') {
    return 'is a standalone, which has no transactions: start it with --replSet and run rs.initiate(), one member is enough.';
  }
  const major = Number(String(build.version).split('.')[0]);
  if (!(major >= VERSION_MIN)) return `is version ${build.version}: Tollgate needs ${VERSION_MIN}.0 or newer.`;
  return undefined;
}

function explainFailure(client: MongoClient, error: unknown): OperatorError {
  if (error instanceof OperatorError) return error;
  const hosts = listHosts(client);
  if (error instanceof MongoServerError) {
    if (error.code === 18) return new OperatorError(`MongoDB at ${hosts} refused the user name or the password.`);
    return new OperatorError(`MongoDB at ${hosts} refused the connection: ${error.message}.`);
  }
  return new OperatorError(`MongoDB does not answer at ${hosts}, or its replica set has no primary.`);
}

interface DirectAnswer {
  readonly refusal?: string;
  /** The problem will not disappear, unlike a replica set that may still be initiated. */
  readonly isPermanent?: boolean;
}

/** The driver ignores servers outside the requested replica set; a direct connection shows what they are. */
async function askServerDirectly(client: MongoClient): Promise<DirectAnswer> {
  const { hosts, tls, replicaSet } = client.options;
  if (tls || hosts.length === 0) return {};
  const host = String(hosts[0]);
  const direct = new MongoClient(`mongodb://${host}/?directConnection=true`, OPTIONS);
  try {
    const hello = await withDeadline(ATTEMPT_MS, (signal) => direct.db('admin').command({ hello: 1 }, { signal }));
    const refusal = findServerProblem(hello, { version: `${VERSION_MIN}.0` });
    if (refusal) return { refusal: `The MongoDB server at ${host} ${refusal}`, isPermanent: !hello.isreplicaset };
    if (replicaSet === undefined || hello.setName === replicaSet) return {};
    const names = `is in the replica set ${hello.setName}, the URL asks for ${replicaSet}`;
    return { refusal: `The MongoDB server at ${host} ${names}.`, isPermanent: true };
  } catch {
    return {};
  } finally {
    await direct.close();
  }
}

function listHosts(client: MongoClient): string {
  return client.options.srvHost ?? client.options.hosts.map(String).join(', ');
}
