// The store contract on a MongoDB replica set.

import { MONGODB } from '../../testkit/stores.ts';
import { storeContract } from '../contract/store/contract.ts';

storeContract(MONGODB);
