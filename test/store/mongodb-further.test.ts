// The rest of the store contract on a MongoDB replica set.

import { MONGODB } from '../../testkit/stores.ts';
import { furtherContract } from '../contract/store/contract.ts';

furtherContract(MONGODB);
