// The store contract on a MongoDB replica set.
import { storeContract } from '../contract/store/contract.ts';
import { MONGODB } from '../helpers/stores.ts';

storeContract(MONGODB);
