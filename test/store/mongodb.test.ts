// The store contract on a MongoDB replica set.
import { storeContract } from '../contract/store/contract.ts';
import { createMongoDatabase } from '../helpers/mongod.ts';

storeContract({ name: 'mongodb', create: createMongoDatabase });
