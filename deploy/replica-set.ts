// Sets up one replica set of three servers with its users: node deploy/replica-set.ts. Every step first checks whether
// it is already done, so that it can run at every start.
import { type Db, MongoClient, type MongoClientOptions, MongoServerError } from 'mongodb';

/** As `replSetName` of mongod.conf. */
export const SET_NAME = 'tollgate';
/** A dead primary is replaced after 2 to 3 s; with the server's defaults it takes 11 s. */
export const ELECTION = { electionTimeoutMillis: 2000, heartbeatTimeoutSecs: 2 };
/** The database of the gateways, the only one their user may use. */
export const DATABASE = 'tollgate';
export const ADMIN = 'admin';
export const GATEWAY = 'gateway';

export interface SetOptions {
  /** host:port of every member, as used by members and gateways. */
  readonly members: readonly string[];
  /** host:port of the first member on the loopback interface: only there it accepts its first user. */
  readonly local: string;
  readonly adminPassword: string;
  readonly gatewayPassword: string;
  /** How long each step may take. */
  readonly withinMs?: number;
  /** Called with every change. */
  readonly say?: (line: string) => void;
}

type Say = (line: string) => void;

/** A mistake that waiting does not fix. */
class Refusal extends Error {}

interface Config {
  readonly version: number;
  readonly members: readonly { readonly _id: number; readonly host: string }[];
  readonly settings: Readonly<Record<string, unknown>>;
}

const WITHIN_MS = 120_000;
const PAUSE_MS = 200;
const UNAUTHORIZED = 13;
const WRONG_PASSWORD = 18;

export async function makeReplicaSet(options: SetOptions): Promise<void> {
  const steps: readonly ((say: Say) => Promise<void>)[] = [
    (say) => initiate(options, say),
    (say) => makeAdmin(options, say),
    (say) => onSet(options, (admin) => addMembers(admin, options.members, say)),
    (say) => onSet(options, (admin) => checkMembers(admin, say)),
    (say) => makeGatewayUser(options, say),
  ];
  for (const step of steps) await patiently(options.withinMs ?? WITHIN_MS, () => step(options.say ?? print));
}

/** Starts with one member, which is certainly primary and accepts the users; the others then join. */
async function initiate({ members, local }: SetOptions, say: Say): Promise<void> {
  await onMember(local, {}, async (admin) => {
    const hello = await admin.command({ hello: 1 });
    if (hello.setName === SET_NAME) return;
    if (hello.setName !== undefined) throw new Refusal(`${local} is in the replica set ${hello.setName}`);
    const config = { _id: SET_NAME, members: [{ _id: 0, host: members[0] }], settings: ELECTION };
    await admin.command({ replSetInitiate: config });
    say(`initiated the replica set ${SET_NAME} on ${members[0]}`);
  });
}

async function makeAdmin({ local, adminPassword }: SetOptions, say: Say): Promise<void> {
  if (await takes(local, ADMIN, adminPassword)) return;
  try {
    await onMember(local, {}, (admin) =>
      admin.command({ createUser: ADMIN, pwd: adminPassword, roles: ['root'], writeConcern: { w: 1 } }),
    );
    say('made the user admin');
  } catch (error) {
    // A server that already has users accepts no first one.
    if (!(error instanceof MongoServerError && error.code === UNAUTHORIZED)) throw error;
    throw new Refusal('MONGODB_ADMIN_PASSWORD is not the password that the replica set was made with');
  }
}

async function addMembers(admin: Db, wanted: readonly string[], say: Say): Promise<void> {
  const { config } = (await admin.command({ replSetGetConfig: 1 })) as unknown as { config: Config };
  const { version, members } = config;
  const missing = wanted.find((host) => !members.some((member) => member.host === host));
  const others = Object.entries(ELECTION).some(([name, value]) => Number(config.settings[name]) !== value);
  if (missing === undefined && !others) return;
  const _id = Math.max(...members.map((member) => member._id)) + 1;
  const added = missing === undefined ? [] : [{ _id, host: missing }];
  const settings = { ...config.settings, ...ELECTION };
  await admin.command({
    replSetReconfig: { ...config, version: version + 1, members: [...members, ...added], settings },
  });
  say(missing === undefined ? 'changed the settings of elections' : `added ${missing}`);
  // One at a time: the server accepts no other change before.
  throw new Error('the last change is under way');
}

async function checkMembers(admin: Db, say: Say): Promise<void> {
  const { members, votingMembersCount: votes } = await admin.command({ replSetGetStatus: 1 });
  const states = (members as { name: string; stateStr: string }[]).map(({ name, stateStr }) => `${name} ${stateStr}`);
  // A member votes only some seconds after joining: until then the set may not survive losing another.
  const settled = votes === states.length && states.every((state) => / (PRIMARY|SECONDARY)$/.test(state));
  if (!settled) throw new Error(`${states.join(', ')}, ${votes} of them vote`);
  say(states.join(', '));
}

async function makeGatewayUser(options: SetOptions, say: Say): Promise<void> {
  const { local, gatewayPassword } = options;
  if (await takes(local, GATEWAY, gatewayPassword, ROLES)) return;
  await onSet(options, async (admin) => {
    const { users } = await admin.command({ usersInfo: GATEWAY });
    const verb = users.length > 0 ? 'updateUser' : 'createUser';
    const roles = ROLES.map((role) => ({ role, db: DATABASE }));
    await admin.command({ [verb]: GATEWAY, pwd: gatewayPassword, roles, writeConcern: { w: 'majority' } });
    say(verb === 'createUser' ? 'made the user gateway' : 'gave the user gateway its new password or roles');
  });
}

/** The second one is for migrations: they change the rules of collections. */
const ROLES = ['readWrite', 'dbAdmin'];

/** Whether a member accepts the user with this password, and the user has these roles. */
async function takes(local: string, user: string, password: string, roles: readonly string[] = []): Promise<boolean> {
  try {
    const asked = (admin: Db) => admin.command({ connectionStatus: 1 });
    const { authInfo } = await onMember(local, credentials(user, password), asked);
    const held = (authInfo.authenticatedUserRoles as readonly { role: string }[]).map(({ role }) => role);
    return roles.every((role) => held.includes(role));
  } catch (error) {
    if (error instanceof MongoServerError && error.code === WRONG_PASSWORD) return false;
    throw error;
  }
}

function onMember<T>(host: string, options: MongoClientOptions, work: (admin: Db) => Promise<T>): Promise<T> {
  return onServer(`mongodb://${host}/?directConnection=true`, options, work);
}

function onSet<T>({ members, adminPassword }: SetOptions, work: (admin: Db) => Promise<T>): Promise<T> {
  const url = `mongodb://${members.join(',')}/?replicaSet=${SET_NAME}`;
  return onServer(url, credentials(ADMIN, adminPassword), work);
}

function credentials(username: string, password: string): MongoClientOptions {
  return { auth: { username, password }, authSource: 'admin' };
}

async function onServer<T>(url: string, options: MongoClientOptions, work: (admin: Db) => Promise<T>): Promise<T> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 3000, connectTimeoutMS: 3000, ...options });
  try {
    await client.connect();
    return await work(client.db('admin'));
  } finally {
    await client.close();
  }
}

/** Servers start, elections run, members copy: what fails now may succeed in a moment. */
async function patiently(withinMs: number, step: () => Promise<void>): Promise<void> {
  const until = performance.now() + withinMs;
  while (true) {
    try {
      return await step();
    } catch (error) {
      if (error instanceof Refusal) throw error;
      if (performance.now() > until) throw new Refusal(`it took too long: ${(error as Error).message}`);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  }
}

function print(line: string): void {
  console.log(`replica set: ${line}`);
}

function need(name: string): string {
  const value = process.env[name];
  if (!value) throw new Refusal(`${name} is not set: see .env.example`);
  // It stands in a URL as it is.
  if (!/^[\w.~,:-]+$/.test(value)) throw new Refusal(`${name} has characters that need escaping in a URL`);
  return value;
}

if (import.meta.main) {
  try {
    const members = need('MONGODB_MEMBERS').split(',');
    await makeReplicaSet({
      members,
      local: process.env.MONGODB_LOCAL ?? `127.0.0.1:${members[0]?.split(':')[1] ?? 27017}`,
      adminPassword: need('MONGODB_ADMIN_PASSWORD'),
      gatewayPassword: need('MONGODB_GATEWAY_PASSWORD'),
    });
    print('is in order');
  } catch (error) {
    console.error(`replica set: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}
