// The store contract on SQLite files.

import { SQLITE } from '../../testkit/stores.ts';
import { furtherContract, storeContract } from '../contract/store/contract.ts';

storeContract(SQLITE);
furtherContract(SQLITE);
